import 'ol/ol.css'
import '../../style/map.css'
import { useEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { MapButtons } from '../../map/map-buttons.tsx'
import { credits, fitPoints, openMap, toMap } from '../../map/open-map.ts'
import { palette } from '../../map/palette.ts'
import { TrackPainter } from './track-painter.ts'
import { placeAt, type Track } from './track.ts'

/** The way of the day on a map. It is fitted once; after that only the operator moves it. */
export function TrackMap({
  track,
  at,
  isFollowing,
}: {
  track: Track
  at: number
  isFollowing: boolean
}) {
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; painter: TrackPainter }>(null)
  const colours = palette.value

  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current)
    shown.current = { map, painter: new TrackPainter(map) }
    map.updateSize()
    fitPoints(map, track.points, { animated: false })
    return close
  }, [])

  useEffect(() => {
    const { map, painter } = shown.current ?? { map: undefined, painter: undefined }
    painter?.paint(track, at)
    const here = isFollowing ? placeAt(track.points, at) : undefined
    if (here !== undefined) map?.getView().setCenter(toMap(here))
  }, [track, at, isFollowing, colours])

  return (
    <div class="fleet-map track-map">
      <div
        ref={target}
        class="map-target"
        tabIndex={0}
        role="application"
        aria-label="Track: arrow keys move the map, + and − zoom; the table holds the same points"
      />
      <MapButtons map={() => shown.current?.map} />
      <p class="map-credits">{credits.value.join(' · ')}</p>
    </div>
  )
}
