import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { mercatorToDegrees, WORLD_METRES } from '../../schemas/geo/mercator.ts'
import { scaleFor } from '../core/measures.ts'
import { Isolated } from '../ui/isolated.tsx'
import { readerUnits } from '../ui/shown.ts'
import {
  isLayerFailed,
  hasStreets,
  isLayerOutside,
  offeredLayers,
  retryLayer,
  shownCredit,
  shownLayerName,
  streetsToAskFor,
} from './layers.ts'
import { HALF_WORLD } from './map-canvas.ts'
import { retryWorld, worldState } from './open-map.ts'

/** From this zoom on, the base map has no further detail. */
const STREETS_ZOOM = 12

/**
 * The bottom edge of a map: its scale, its sources, and a note on missing streets.
 *
 * @param layersId the id of the layer chooser.
 */
export function MapFoot({
  map,
  layersId,
  children,
}: {
  map: OlMap | undefined
  layersId: string
  children?: ComponentChildren
}) {
  const { zoom, metresPerPixel } = useView(map)
  const isChoice = offeredLayers.value !== undefined && offeredLayers.value.length > 0
  const isFailed = isLayerFailed.value || worldState.value === 'failed'
  const lacksStreets =
    (zoom >= STREETS_ZOOM || isLayerOutside.value) &&
    !hasStreets.value &&
    isChoice &&
    !isFailed &&
    !streetsToAskFor.value
  return (
    <div class="map-foot">
      {worldState.value === 'being built' && (
        <p class="notice over-map" role="status">
          The map is being built and will appear here shortly.
        </p>
      )}
      {isFailed && (
        <p class="notice warn row over-map" role="status">
          {isLayerFailed.value ? <Isolated>{shownLayerName.value}</Isolated> : 'The map'} could not
          be loaded
          <button
            type="button"
            class="small"
            onClick={() => (isLayerFailed.value ? retryLayer() : retryWorld())}
          >
            Retry
          </button>
        </p>
      )}
      <div class="map-facts">
        {lacksStreets && (
          <p class="map-hint note">
            {isLayerOutside.value
              ? `${shownLayerName.value} does not reach here; this is the built-in map.`
              : 'This map shows no streets here.'}{' '}
            <button type="button" class="small" popovertarget={layersId}>
              Choose another
            </button>
          </p>
        )}
        {children}
        {metresPerPixel > 0 && <Scale metresPerPixel={metresPerPixel} />}
      </div>
      <MapCredits />
    </div>
  )
}

function Scale({ metresPerPixel }: { metresPerPixel: number }) {
  const { text, pixels } = scaleFor(metresPerPixel, readerUnits())
  return (
    <p
      class="map-scale note"
      role="img"
      aria-label={`Scale: ${text}`}
      style={{ width: `${pixels}px` }}
    >
      {text}
    </p>
  )
}

/** The zoom of a map, and the length of a pixel at its centre, after each move. */
function useView(map: OlMap | undefined) {
  const [view, setView] = useState({ zoom: 0, metresPerPixel: 0 })
  useEffect(() => {
    if (map === undefined) return undefined
    const read = () => {
      const { resolution = 0, center = [0, 0] } = map.getView().getState()
      const y = 0.5 - (center[1] ?? 0) / (2 * HALF_WORLD)
      const shrinks = Math.cos((mercatorToDegrees({ x: 0, y }).latitude * Math.PI) / 180)
      const metresPerPixel = ((resolution * shrinks) / (2 * HALF_WORLD)) * WORLD_METRES
      setView({ zoom: map.getView().getZoom() ?? 0, metresPerPixel })
    }
    read()
    map.on('moveend', read)
    return () => map.un('moveend', read)
  }, [map])
  return view
}

const WORLD_CREDITS = 'Natural Earth'
/** Place names come from there, whichever map is shown. */
const PLACES_CREDITS = 'GeoNames'

/** The licences that the credits link to. */
const LICENCES: Readonly<Record<string, string>> = {
  OpenStreetMap: 'https://www.openstreetmap.org/copyright',
  GeoNames: 'https://creativecommons.org/licenses/by/4.0/',
}
const NAMES = new RegExp(`(${Object.keys(LICENCES).join('|')})`)

/** The sources of the map's data; some require a link to their licence. */
function MapCredits() {
  const credits = [
    worldState.value === 'shown' ? WORLD_CREDITS : [],
    PLACES_CREDITS,
    shownCredit.value ?? [],
  ]
  return (
    <p class="map-credits note">
      {credits
        .flat()
        .join(' · ')
        .split(NAMES)
        .map((text) => {
          const href = LICENCES[text]
          if (href === undefined) return text
          return (
            <a href={href} target="_blank" rel="noreferrer">
              {text}
            </a>
          )
        })}
    </p>
  )
}
