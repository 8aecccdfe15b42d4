import OlMap from 'ol/Map.js'
import View from 'ol/View.js'
import ViewHint from 'ol/ViewHint.js'
import { defaults as standardInteractions } from 'ol/interaction/defaults.js'
import ImageTile from 'ol/source/ImageTile.js'
import TileLayer from 'ol/layer/Tile.js'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import { PMTilesRasterSource, PMTilesVectorSource } from 'ol-pmtiles'
import { PMTiles } from 'pmtiles'
import { api } from '../api/client.ts'
import type { components } from '../api/schema.ts'
import { Archive } from './archive.ts'
import { boundsOf } from '../core/clusters.ts'
import { HALF_WORLD } from './map-canvas.ts'
import type { Point } from '../core/mercator.ts'
import { palette } from '../ui/palette.ts'
import { worldStyle } from './world-style.ts'
import { effect, signal } from '@preact/signals'
import { addressOf } from '../core/address.ts'

export const MAX_ZOOM = 20
const LOOK_AGAIN_MS = 4_000
const VECTOR_TILES = 1

const world = new Archive(addressOf('/map/world.pmtiles'))
// Any importer of this module is about to open a map.
world.start().catch(() => undefined)

type ConsoleMap = NonNullable<components['schemas']['Console']['map']>

/** The sources of the map's data. */
export const credits = signal<readonly string[]>([])

/** A map of the world in an element, with the operators' own map over it, and no devices yet. */
export function openMap(target: HTMLElement): { map: OlMap; close: () => void } {
  const map = new OlMap({
    target,
    controls: [],
    interactions: standardInteractions({ altShiftDragRotate: false, pinchRotate: false }),
    view: new View({
      center: [0, 2_500_000],
      zoom: 2,
      minZoom: 0,
      maxZoom: MAX_ZOOM,
      enableRotation: false,
      // The poles stay out of the middle, and the view can cross 180°.
      extent: [-Infinity, -20_037_508, Infinity, 20_037_508],
      constrainOnlyCenter: true,
    }),
  })
  const closing = new AbortController()
  credits.value = []
  const restyle = effect(() => {
    target.style.backgroundColor = palette.value.water
  })
  addWorld(map, closing.signal).catch(() => undefined)
  addOwnMap(map, closing.signal).catch(() => undefined)
  return {
    map,
    close() {
      closing.abort()
      restyle()
      map.setTarget(undefined)
      map.dispose()
    },
  }
}

/**
 * The base map is built while the service starts for the first time: until then it does not exist.
 */
async function addWorld(map: OlMap, closing: AbortSignal): Promise<void> {
  const isThere = () =>
    world.start().then(
      () => true,
      () => false,
    )
  while (!closing.aborted && !(await isThere())) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
  if (closing.aborted) return
  const layer = vectorLayer(world, { zIndex: 0, closing })
  map.getLayers().insertAt(0, layer)
  credit('Natural Earth')
  credit('GeoNames (CC BY 4.0)')
}

async function addOwnMap(map: OlMap, closing: AbortSignal): Promise<void> {
  const { map: own } = await api.get('/console', { signal: closing })
  if (own === null) return
  // A path is one of this service.
  const url = own.url.startsWith('/') ? addressOf(own.url) : own.url
  map.addLayer(await ownLayer({ ...own, url }, closing))
  if (own.attribution !== null) credit(own.attribution)
}

/** The operators' own map, over the world: if one of its tiles fails, the world is visible. */
async function ownLayer({ kind, url, maxZoom }: ConsoleMap, closing: AbortSignal) {
  const zIndex = 1
  const most = maxZoom === null ? {} : { maxZoom }
  if (kind === 'tiles') return new TileLayer({ zIndex, source: new ImageTile({ url, ...most }) })
  const file = new Archive(url)
  const { tileType } = await new PMTiles(file).getHeader()
  if (Number(tileType) === VECTOR_TILES) return vectorLayer(file, { zIndex, closing, ...most })
  return new TileLayer({ zIndex, source: new PMTilesRasterSource({ url, ...most }) })
}

function vectorLayer(
  file: Archive,
  { zIndex, closing, ...most }: { zIndex: number; closing: AbortSignal; maxZoom?: number },
): VectorTileLayer {
  const layer = new VectorTileLayer({
    zIndex,
    declutter: true,
    // It accepts either option; its type requires both at once.
    source: new PMTilesVectorSource({ url: file as Archive & string, ...most }),
  })
  // During a zoom nobody sees the difference, and without a GPU smoothing takes a third of each
  // frame.
  layer.on('prerender', ({ context, frameState }) => {
    const isZooming = (frameState?.viewHints[ViewHint.ANIMATING] ?? 0) > 0
    if (isZooming && context !== undefined && 'imageSmoothingEnabled' in context)
      context.imageSmoothingEnabled = false
  })
  const restyle = effect(() => layer.setStyle(worldStyle(palette.value)))
  closing.addEventListener('abort', restyle)
  return layer
}

function credit(text: string): void {
  credits.value = [...credits.value, text]
}

/** Moves the view so that it contains all the points, across 180° where that is shorter. */
export function fitPoints(
  map: OlMap,
  points: Iterable<Point>,
  { animated = isAnimated() }: { animated?: boolean } = {},
): void {
  const box = boundsOf(points)
  if (box === undefined) return
  const [west, south] = toMap({ x: box.west, y: box.south })
  const [east, north] = toMap({ x: box.east, y: box.north })
  const isOnePlace = box.west === box.east && box.north === box.south
  map.getView().fit([west, south, east, north], {
    // Names are to the right of devices, below the buttons.
    padding: [60, 110, 60, 60],
    // A single place says nothing without the towns around it.
    maxZoom: isOnePlace ? 10 : 16,
    duration: animated ? 250 : 0,
  })
}

/** Converts a point of the world to the units of the map's projection. */
export function toMap({ x, y }: Point): [number, number] {
  return [(x - 0.5) * 2 * HALF_WORLD, (0.5 - y) * 2 * HALF_WORLD]
}

export function isAnimated(): boolean {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches
}
