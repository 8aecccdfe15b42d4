import { computed, effect, signal } from '@preact/signals'
import type OlMap from 'ol/Map.js'
import type { Extent } from 'ol/extent.js'
import TileLayer from 'ol/layer/Tile.js'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import { transformExtent } from 'ol/proj.js'
import ImageTile from 'ol/source/ImageTile.js'
import { PMTilesRasterSource } from 'ol-pmtiles'
import { PMTiles } from 'pmtiles'
import { api } from '../api/client.ts'
import type { components } from '../api/schema.ts'
import { addressOf } from '../core/address.ts'
import { palette } from '../ui/palette.ts'
import { keptPreference } from '../ui/preferences.ts'
import { Archive } from './archive.ts'
import { hideBelow } from './hide-below.ts'
import { streetsStyle } from './streets-style.ts'
import { vectorLayer } from './vector-layer.ts'

type Layer = components['schemas']['ConsoleMap']

/** The name of the base map, which is below every other layer. */
export const WORLD = 'World (offline)'

/** The layers that the service offers besides the base map; undefined: not read yet. */
export const offeredLayers = signal<readonly Layer[] | undefined>(undefined)

/**
 * Whether a layer of an outside provider is shown without a choice: the sender of a link chose it
 * for its page.
 */
export const areStreetsShown = signal(false)

/** The name of the layer that the operator has chosen; empty: none yet. */
const chosenName = keptPreference('layer', '', (text) => text)

/**
 * The layer shown above the base map, if any. A layer whose provider sees the viewed area is shown
 * only once it is chosen.
 */
const shown = computed(() => {
  const layers = offeredLayers.value ?? []
  if (chosenName.value === WORLD) return undefined
  const chosen = layers.find(({ name }) => name === chosenName.value)
  return chosen ?? layers.find(({ seenBy }) => seenBy === null || areStreetsShown.value)
})

export const shownLayerName = computed(() => shown.value?.name ?? WORLD)

/** The credits named in the shown file. */
const fileCredit = signal<string | undefined>(undefined)
export const shownCredit = computed(() => shown.value?.attribution ?? fileCredit.value)

/** The area in which the shown layer has names. */
export const coveredArea = signal<Extent | undefined>(undefined)

export function showLayer(name: string): void {
  chosenName.value = name
}

/**
 * Keeps the chosen layer on the map until it is closed; if one of its tiles fails, the base map
 * shows its names.
 */
export function addChosenLayer(map: OlMap, closing: AbortSignal): void {
  if (offeredLayers.peek() === undefined) {
    api
      .get('/console', { signal: closing })
      .then(({ maps }) => (offeredLayers.value = maps))
      .catch(() => undefined)
  }
  const end = effect(() => {
    const layer = shown.value
    if (layer === undefined) return undefined
    const ending = new AbortController()
    const until = AbortSignal.any([closing, ending.signal])
    makeLayer(layer, until)
      .then((made) => {
        if (until.aborted) return
        const area = made.getExtent() ?? EVERYWHERE
        made.getSource()?.on('tileloadend', () => {
          coveredArea.value = area
        })
        made.getSource()?.on('tileloaderror', () => {
          coveredArea.value = undefined
        })
        if (made instanceof VectorTileLayer) hideBelow(map, made, until)
        map.addLayer(made)
      })
      .catch(() => undefined)
    return () => {
      ending.abort()
      coveredArea.value = undefined
      fileCredit.value = undefined
      for (const above of map.getLayers().getArray().slice()) {
        if (above.getZIndex() === ABOVE) map.removeLayer(above)
      }
    }
  })
  closing.addEventListener('abort', end)
}

const ABOVE = 1
const VECTOR_TILES = 1
const EVERYWHERE: Extent = [-Infinity, -Infinity, Infinity, Infinity]

async function makeLayer({ kind, url: given, maxZoom }: Layer, closing: AbortSignal) {
  // A path is one of this service.
  const url = given.startsWith('/') ? addressOf(given) : given
  const most = maxZoom === null ? {} : { maxZoom }
  if (kind === 'tiles') {
    return new TileLayer({ zIndex: ABOVE, source: new ImageTile({ url, ...most }) })
  }
  const file = new Archive(url)
  const pmtiles = new PMTiles(file)
  const { tileType, minZoom, minLon, minLat, maxLon, maxLat } = await pmtiles.getHeader()
  if (!closing.aborted) fileCredit.value = creditIn(await pmtiles.getMetadata())
  const options = {
    zIndex: ABOVE,
    extent: transformExtent([minLon, minLat, maxLon, maxLat], 'EPSG:4326', 'EPSG:3857'),
    // Further out, a view would need hundreds of its tiles.
    minZoom: minZoom - 0.5,
  }
  if (Number(tileType) === VECTOR_TILES) {
    const [language = ''] = navigator.language.split('-')
    const style = () => streetsStyle(palette.value, language)
    return vectorLayer(file, style, { ...options, closing, ...most })
  }
  return new TileLayer({ ...options, source: new PMTilesRasterSource({ url, ...most }) })
}

/** The text of a PMTiles file's attribution, which may be HTML. */
function creditIn(metadata: unknown): string | undefined {
  const { attribution } = (metadata ?? {}) as { attribution?: unknown }
  const text = typeof attribution === 'string' ? attribution.replace(/<[^>]*>/g, '').trim() : ''
  return text === '' ? undefined : text
}
