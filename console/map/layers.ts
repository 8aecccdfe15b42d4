import { computed, effect, signal } from '@preact/signals'
import type OlMap from 'ol/Map.js'
import { containsXY, intersects, wrapAndSliceX, type Extent } from 'ol/extent.js'
import TileLayer from 'ol/layer/Tile.js'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import { transformExtent } from 'ol/proj.js'
import type TileSource from 'ol/source/Tile.js'
import ImageTile from 'ol/source/ImageTile.js'
import { PMTilesRasterSource } from 'ol-pmtiles'
import { PMTiles } from 'pmtiles'
import { api } from '../api/client.ts'
import type { components } from '../api/schema.ts'
import { addressOf } from '../core/address.ts'
import { palette } from '../ui/palette.ts'
import { createPreference } from '../ui/preferences.ts'
import { Archive } from './archive.ts'
import { hideBelow } from './hide-below.ts'
import { streetsStyle } from './streets-style.ts'
import { namesOf, vectorLayer } from './vector-layer.ts'

type Layer = components['schemas']['ConsoleMap']

/** The name of the base map, which is below every other layer. */
export const WORLD = 'World (offline)'

/** The layers that the service offers in addition to the base map; undefined until read. */
export const offeredLayers = signal<readonly Layer[] | undefined>(undefined)

/**
 * Whether a layer of an outside provider is shown without the viewer's consent: the sender of a
 * link chose it for its page.
 */
export const areStreetsShown = signal(false)

/** The name of the layer selected by the operator; empty until one is selected. */
const chosenName = createPreference('layer', '', (text) => text)

/**
 * The layer shown above the base map, if any. A layer whose provider sees the viewed area is shown
 * only after it is selected.
 */
const shown = computed(() => {
  const layers = offeredLayers.value ?? []
  if (chosenName.value === WORLD) return undefined
  const chosen = layers.find(({ name }) => name === chosenName.value)
  return chosen ?? layers.find(({ seenBy }) => seenBy === null || areStreetsShown.value)
})

export const shownLayerName = computed(() => shown.value?.name ?? WORLD)

/**
 * The street map to ask about: its provider would see the viewed area, and nothing is selected yet.
 */
export const streetsToAskFor = computed(() =>
  chosenName.value === '' && shown.value === undefined
    ? (offeredLayers.value ?? []).find(({ seenBy }) => seenBy !== null)
    : undefined,
)

/** Whether the map shows streets in the current view. */
export const hasStreets = computed(() => shown.value !== undefined && !isLayerLacking.value)

/** Whether the map shows streets at a point, in the units of the map's projection. */
export function hasStreetsAt([x, y]: readonly [number, number]): boolean {
  const area = layerArea.peek()
  return shown.peek() !== undefined && !isLayerFailed.peek() && containsXY(area, x, y)
}

/** Whether the selected layer has not loaded; the base map is below it. */
export const isLayerFailed = signal(false)

/** Whether the view is outside the selected layer's area. */
export const isLayerOutside = signal(false)
const isLayerLacking = computed(() => isLayerFailed.value || isLayerOutside.value)

const EVERYWHERE: Extent = [-Infinity, -Infinity, Infinity, Infinity]
/** The area of the selected layer; everywhere until it is known. */
const layerArea = signal(EVERYWHERE)

let loadAgain: () => void = () => undefined

/** Loads the selected layer now. */
export function retryLayer(): void {
  isLayerFailed.value = false
  loadAgain()
}

/** How long to wait for a server that does not respond. */
const ANSWERS_WITHIN_MS = 8_000

/** The credits named in the layer's file. */
const fileCredit = signal<string | undefined>(undefined)
export const shownCredit = computed(() => shown.value?.attribution ?? fileCredit.value)

/** The area in which the selected layer has names. */
export const coveredArea = signal<Extent | undefined>(undefined)

export function showLayer(name: string): void {
  chosenName.value = name
}

/**
 * Keeps the selected layer on the map until it is closed; if one of its tiles fails, the base map
 * shows its names.
 */
export function addChosenLayer(
  map: OlMap,
  closing: AbortSignal,
  { areNamesAbove }: { areNamesAbove: boolean },
): void {
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
    const add = () => {
      loadAgain = add
      for (const above of layersAbove(map)) map.removeLayer(above)
      makeLayers(layer, { closing: until, areNamesAbove })
        .then((layers) => {
          if (until.aborted) return
          const [made] = layers
          const area = made.getExtent() ?? EVERYWHERE
          layerArea.value = area
          watchLoading(made, area, until)
          watchView(map, area, until)
          if (made instanceof VectorTileLayer) hideBelow(map, made, until)
          for (const one of layers) {
            one.set(IS_CHOSEN, true)
            map.addLayer(one)
          }
        })
        .catch(() => {
          if (!until.aborted) isLayerFailed.value = true
        })
    }
    add()
    return () => {
      ending.abort()
      coveredArea.value = undefined
      fileCredit.value = undefined
      layerArea.value = EVERYWHERE
      isLayerFailed.value = false
      isLayerOutside.value = false
      for (const above of layersAbove(map)) map.removeLayer(above)
    }
  })
  closing.addEventListener('abort', end)
}

function layersAbove(map: OlMap) {
  return map
    .getLayers()
    .getArray()
    .filter((layer) => layer.get(IS_CHOSEN) === true)
}

/**
 * The layer has failed if its first tiles do not arrive; the base map names places until they do.
 */
function watchLoading(
  layer: Awaited<ReturnType<typeof makeLayers>>[0],
  area: Extent,
  until: AbortSignal,
): void {
  let patience: ReturnType<typeof setTimeout> | undefined
  let isLoaded = false
  const fail = () => {
    coveredArea.value = undefined
    if (!isLoaded) isLayerFailed.value = true
  }
  const source = layer.getSource()
  source?.on('tileloadstart', () => {
    if (!isLoaded) patience ??= setTimeout(fail, ANSWERS_WITHIN_MS)
  })
  source?.on('tileloadend', () => {
    isLoaded = true
    clearTimeout(patience)
    coveredArea.value = area
    isLayerFailed.value = false
  })
  source?.on('tileloaderror', fail)
  until.addEventListener('abort', () => clearTimeout(patience))
}

function watchView(map: OlMap, area: Extent, until: AbortSignal): void {
  const look = () => {
    const view = map.getView()
    // The view may have crossed 180°, a layer's area never does.
    const seen = wrapAndSliceX(view.calculateExtent(map.getSize()), view.getProjection())
    isLayerOutside.value = !seen.some((part) => intersects(area, part))
  }
  look()
  map.on('moveend', look)
  until.addEventListener('abort', () => map.un('moveend', look))
}

/** A property of the selected layer. */
const IS_CHOSEN = 'isChosen'
const ABOVE = 1
const VECTOR_TILES = 1

/** The layer, and its names if they are a separate layer. */
async function makeLayers(
  { kind, url: given, maxZoom }: Layer,
  { closing, areNamesAbove }: { closing: AbortSignal; areNamesAbove: boolean },
): Promise<readonly [TileLayer<TileSource> | VectorTileLayer, ...VectorTileLayer[]]> {
  // A path belongs to this service.
  const url = given.startsWith('/') ? addressOf(given) : given
  const most = maxZoom === null ? {} : { maxZoom }
  if (kind === 'tiles') {
    return [new TileLayer({ zIndex: ABOVE, source: new ImageTile({ url, ...most }) })]
  }
  const file = new Archive(url)
  const pmtiles = new PMTiles(file)
  const { tileType, minZoom, minLon, minLat, maxLon, maxLat } = await pmtiles.getHeader()
  if (!closing.aborted) fileCredit.value = parseCredit(await pmtiles.getMetadata())
  const options = {
    zIndex: ABOVE,
    extent: transformExtent([minLon, minLat, maxLon, maxLat], 'EPSG:4326', 'EPSG:3857'),
    // Further out, a view would need hundreds of its tiles.
    minZoom: minZoom - 0.5,
  }
  if (Number(tileType) === VECTOR_TILES) {
    const [language = ''] = navigator.language.split('-')
    const style = () => streetsStyle(palette.value, language)
    const made = vectorLayer(file, style, { ...options, closing, areNamesAbove, ...most })
    return areNamesAbove ? [made, namesOf(made, style, closing)] : [made]
  }
  return [new TileLayer({ ...options, source: new PMTilesRasterSource({ url, ...most }) })]
}

/** The text of a PMTiles file's attribution, which may be HTML. */
function parseCredit(metadata: unknown): string | undefined {
  const { attribution } = (metadata ?? {}) as { attribution?: unknown }
  const text = typeof attribution === 'string' ? attribution.replace(/<[^>]*>/g, '').trim() : ''
  return text === '' ? undefined : text
}
