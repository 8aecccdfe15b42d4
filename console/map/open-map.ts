import OlMap from 'ol/Map.js'
import View from 'ol/View.js'
import { defaults as standardInteractions } from 'ol/interaction/defaults.js'
import { effect, signal } from '@preact/signals'
import { addressOf } from '../core/address.ts'
import { boundsOf } from '../core/bounds.ts'
import { mercatorToDegrees, type MapPoint } from '../../schemas/geo/mercator.ts'
import { palette } from '../ui/palette.ts'
import { Archive } from './archive.ts'
import { addChosenLayer, coveredArea, hasStreets, hasStreetsAt } from './layers.ts'
import { isWorldHidden } from './hide-below.ts'
import { HALF_WORLD } from './map-canvas.ts'
import { namesOf, vectorLayer } from './vector-layer.ts'
import { worldStyle } from './world-style.ts'

export const MAX_ZOOM = 20
const LOOK_AGAIN_MS = 4_000
/** A service without a base map after this time will not have one soon. */
const LONGEST_BUILD_MS = 180_000
/** How far a press of an arrow key moves the map. */
const PAN_PIXELS = 128

const world = new Archive(addressOf('/map/world.pmtiles'))
// Starts now, because every importer of this module is about to open a map.
world.start().catch(() => undefined)

/** The state of the base map. A new service builds it first, so the page keeps checking for it. */
export const worldState = signal<'loading' | 'being built' | 'shown' | 'failed'>('loading')

/**
 * Opens a world map in an element, with the selected layer over it, and no devices yet.
 *
 * @param areNamesAbove whether names are above a canvas that asks for it.
 * @param isBackdrop before signing in: a map without layers that nobody can move.
 */
export function openMap(
  target: HTMLElement,
  { isBackdrop = false, areNamesAbove = false } = {},
): { map: OlMap; close: () => void } {
  const map = new OlMap({
    target,
    controls: [],
    interactions: isBackdrop
      ? []
      : standardInteractions({ keyboard: false, altShiftDragRotate: false, pinchRotate: false }),
    view: new View({
      center: [0, 2_500_000],
      zoom: 2,
      minZoom: 0,
      maxZoom: MAX_ZOOM,
      enableRotation: false,
      // The poles stay out of the centre, and the view can cross 180°.
      extent: [-Infinity, -20_037_508, Infinity, 20_037_508],
      constrainOnlyCenter: true,
    }),
  })
  const closing = new AbortController()
  const restyle = effect(() => {
    // Without the base map everything would look like sea.
    const isSea = worldState.value === 'shown' && !isWorldHidden.value
    target.style.backgroundColor = isSea ? palette.value.water : palette.value.land
  })
  addWorld(map, closing.signal, areNamesAbove).catch(() => undefined)
  if (!isBackdrop) addChosenLayer(map, closing.signal, { areNamesAbove })
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

let lookAgain: () => void = () => undefined

/** Checks for the base map now. */
export function retryWorld(): void {
  lookAgain()
}

async function addWorld(map: OlMap, closing: AbortSignal, areNamesAbove: boolean): Promise<void> {
  const begun = performance.now()
  while (!closing.aborted) {
    worldState.value = await world.start().then(
      () => 'shown' as const,
      async () => {
        const mayBeBuilt = performance.now() - begun < LONGEST_BUILD_MS
        return mayBeBuilt && (await world.isMissing()) ? 'being built' : 'failed'
      },
    )
    if (worldState.value === 'shown') break
    await new Promise<void>((resolve) => {
      lookAgain = resolve
      setTimeout(resolve, LOOK_AGAIN_MS)
    })
  }
  if (closing.aborted) return
  const style = () => worldStyle(palette.value, coveredArea.value)
  const layer = vectorLayer(world, style, { zIndex: 0, closing, areNamesAbove })
  map.getLayers().insertAt(0, layer)
  if (areNamesAbove) map.addLayer(namesOf(layer, style, closing))
  const hiding = effect(() => layer.setVisible(!isWorldHidden.value))
  closing.addEventListener('abort', hiding)
}

/** Moves the view so that it contains all the points, across 180° where that is shorter. */
export function fitPoints(
  map: OlMap,
  points: Iterable<MapPoint>,
  {
    animated = isAnimated(),
    // Zoom for a single point, which is meaningless without the towns around it.
    aloneZoom = 10,
    padding = paddingOf(map),
  }: { animated?: boolean; aloneZoom?: number; padding?: number[] } = {},
): void {
  const box = boundsOf(points)
  if (box === undefined) return
  const [west, south] = toMap({ x: box.west, y: box.south })
  const [east, north] = toMap({ x: box.east, y: box.north })
  const isOnePlace = box.west === box.east && box.north === box.south
  map.getView().fit([west, south, east, north], {
    // Passed explicitly, because the view learns of a new size later.
    size: map.getSize(),
    padding,
    maxZoom: isOnePlace ? aloneZoom : 16,
    duration: animated ? 250 : 0,
  })
}

/** The room for buttons, for credits, and for names to the right of devices. */
function paddingOf(map: OlMap): number[] {
  const part = (name: string) => map.getTargetElement()?.parentElement?.querySelector(name)
  const [buttons, foot] = [part('.map-buttons'), part('.map-foot')] as (HTMLElement | null)[]
  const { offsetTop = 0, offsetWidth = 0, offsetHeight = 0 } = buttons ?? {}
  // In a low map the buttons are a row.
  const top = offsetWidth > offsetHeight ? offsetTop + offsetHeight + 10 : 60
  return [top, 110, Math.max(60, (foot?.offsetHeight ?? 0) + 10), 60]
}

const STREET_ZOOM = 16
/** At closer zooms, a map without streets is empty. */
const TOWN_ZOOM = 11

/** Chooses the zoom for a point: close enough to show its street, or else the surrounding towns. */
export function nearZoom(point: MapPoint): number {
  return hasStreetsAt(toMap(point)) ? STREET_ZOOM : TOWN_ZOOM
}

/**
 * Moves the view to a point, as close as the map has detail; a closer view remains as close, unless
 * it leaves the streets.
 */
export function flyTo(map: OlMap, point: MapPoint, { animated = isAnimated() } = {}): void {
  const view = map.getView()
  const near = nearZoom(point)
  const leavesStreets = hasStreets.peek() && near < STREET_ZOOM
  const zoom = leavesStreets ? near : Math.max(near, view.getZoom() ?? 0)
  const to = { center: toMap(point), zoom }
  view.cancelAnimations()
  if (animated) return view.animate({ ...to, duration: 500 })
  view.setCenter(to.center)
  view.setZoom(to.zoom)
}

export function zoomBy(map: OlMap, levels: number): void {
  const view = map.getView()
  const zoom = view.getZoom()
  if (zoom !== undefined) view.animate({ zoom: zoom + levels, duration: isAnimated() ? 150 : 0 })
}

/** Moves the view by a number of steps to the east and to the north. */
export function panBy(map: OlMap, east: number, north: number): void {
  const view = map.getView()
  const [x = 0, y = 0] = view.getCenter() ?? []
  const step = PAN_PIXELS * (view.getResolution() ?? 0)
  const center = [x + east * step, y + north * step]
  view.animate({ center, duration: isAnimated() ? 100 : 0 })
}

/** Converts a point of the world to the units of the map's projection. */
export function toMap({ x, y }: MapPoint): [number, number] {
  return [(x - 0.5) * 2 * HALF_WORLD, (0.5 - y) * 2 * HALF_WORLD]
}

/** The position at a pixel; beyond 180° its longitude keeps increasing. */
export function pixelToPosition(map: OlMap, pixel: readonly number[]) {
  const [x = 0, y = 0] = map.getCoordinateFromPixel([...pixel]) ?? []
  return mercatorToDegrees({ x: x / (2 * HALF_WORLD) + 0.5, y: 0.5 - y / (2 * HALF_WORLD) })
}

function isAnimated(): boolean {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches
}
