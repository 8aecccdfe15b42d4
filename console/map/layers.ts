import { computed, effect, signal } from '@preact/signals'
import type OlMap from 'ol/Map.js'
import ImageTile from 'ol/source/ImageTile.js'
import TileLayer from 'ol/layer/Tile.js'
import { PMTilesRasterSource } from 'ol-pmtiles'
import { PMTiles } from 'pmtiles'
import { api } from '../api/client.ts'
import type { components } from '../api/schema.ts'
import { addressOf } from '../core/address.ts'
import { kept } from '../ui/preferences.ts'
import { Archive } from './archive.ts'
import { vectorLayer } from './vector-layer.ts'

type Layer = components['schemas']['ConsoleMap']

/** What the page calls the base map, which is below every other layer. */
export const WORLD = 'World (offline)'

/** The layers that the service offers besides the base map. */
export const offered = signal<readonly Layer[]>([])

/** The name of the layer that the operator has chosen; empty: none yet. */
const chosenName = kept('layer', '', (text) => text)

/** The layer shown above the base map, if any. One that others see is shown only once it is chosen. */
const shown = computed(() => {
  const layers = offered.value
  if (chosenName.value === WORLD) return undefined
  const chosen = layers.find(({ name }) => name === chosenName.value)
  return chosen ?? layers.find(({ seenBy }) => seenBy === null)
})

export const shownName = computed(() => shown.value?.name ?? WORLD)
export const shownCredit = computed(() => shown.value?.attribution ?? undefined)

export function showLayer(name: string): void {
  chosenName.value = name
}

/** Keeps the chosen layer on the map until it is closed; if one of its tiles fails, the world shows. */
export function addChosenLayer(map: OlMap, closing: AbortSignal): void {
  if (offered.peek().length === 0) {
    api
      .get('/console', { signal: closing })
      .then(({ maps }) => (offered.value = maps))
      .catch(() => undefined)
  }
  const end = effect(() => {
    const layer = shown.value
    if (layer === undefined) return undefined
    const ending = new AbortController()
    const until = AbortSignal.any([closing, ending.signal])
    makeLayer(layer, until)
      .then((made) => !until.aborted && map.addLayer(made))
      .catch(() => undefined)
    return () => {
      ending.abort()
      for (const above of map.getLayers().getArray().slice()) {
        if (above.getZIndex() === ABOVE) map.removeLayer(above)
      }
    }
  })
  closing.addEventListener('abort', end)
}

const ABOVE = 1
const VECTOR_TILES = 1

async function makeLayer({ kind, url: given, maxZoom }: Layer, closing: AbortSignal) {
  // A path is one of this service.
  const url = given.startsWith('/') ? addressOf(given) : given
  const most = maxZoom === null ? {} : { maxZoom }
  if (kind === 'tiles') {
    return new TileLayer({ zIndex: ABOVE, source: new ImageTile({ url, ...most }) })
  }
  const file = new Archive(url)
  const { tileType } = await new PMTiles(file).getHeader()
  if (Number(tileType) === VECTOR_TILES) {
    return vectorLayer(file, { zIndex: ABOVE, closing, ...most })
  }
  return new TileLayer({ zIndex: ABOVE, source: new PMTilesRasterSource({ url, ...most }) })
}
