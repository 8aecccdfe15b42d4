import type OlMap from 'ol/Map.js'
import type { FrameState } from 'ol/Map.js'
import Layer from 'ol/layer/Layer.js'
import RBush from 'rbush'
import type { PixelBox, Circle } from '../core/label-place.ts'
import { drawLabels, placeLabels, type MapLabel, type PlacedLabel } from './draw-label.ts'
import type { MapCanvas } from './map-canvas.ts'
import { VECTOR_NAMES } from './vector-layer.ts'
import { palette } from '../ui/palette.ts'

/** The map's own names make room for labels that have moved by this much, and this often. */
const MOVED_PIXELS = 8
const RENDERED_EVERY_MS = 1_000

/**
 * The labels of a canvas's devices: over no controls, over no other label, over no name of the map.
 */
export class MapLabels {
  readonly #map: OlMap
  #controls: readonly PixelBox[] | undefined
  #placed: readonly PlacedLabel[] = []
  /** The boxes of other things drawn over the map's names. */
  #marks: readonly PixelBox[] = []
  #rendered: readonly PlacedLabel[] = []
  #renderedAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param layOut arranges marks and labels, with `place`, for the next frame. */
  constructor(map: OlMap, canvas: MapCanvas, layOut: Parameters<MapCanvas['look']>[0]) {
    this.#map = map
    map.addLayer(
      new Beforehand((frame) => {
        canvas.look(layOut)
        this.#rendered = this.#placed
        this.#renderedAt = performance.now()
        keepClear(frame, [...this.#placed, ...this.#marks])
      }),
    )
    const measureAgain = () => {
      this.#controls = undefined
    }
    map.on('moveend', measureAgain)
    map.on('change:size', measureAgain)
    map.on('change:target', () => clearTimeout(this.#timer))
  }

  place(
    context: CanvasRenderingContext2D,
    labels: readonly MapLabel[],
    { viewWidth, obstacles }: { readonly viewWidth: number; readonly obstacles: readonly Circle[] },
  ): void {
    this.#controls ??= controlsOver(this.#map)
    this.#marks = obstacles.map(boxAround)
    this.#placed = placeLabels(context, labels, { viewWidth, obstacles, boxes: this.#controls })
  }

  draw(context: CanvasRenderingContext2D): void {
    drawLabels(context, this.#placed, palette.peek())
    if (this.#timer === undefined && areApart(this.#placed, this.#rendered)) {
      const inMs = this.#renderedAt + RENDERED_EVERY_MS - performance.now()
      this.#timer = setTimeout(
        () => {
          this.#timer = undefined
          this.#map.render()
        },
        Math.max(0, inMs),
      )
    }
  }
}

/** Runs in each frame before any layer with names is drawn. */
class Beforehand extends Layer {
  readonly #run: (frame: FrameState) => void

  constructor(run: (frame: FrameState) => void) {
    super({ zIndex: -1 })
    this.#run = run
  }

  override render(frame: FrameState | null): HTMLElement | null {
    if (frame !== null) this.#run(frame)
    return null
  }
}

function keepClear({ declutter, pixelRatio }: FrameState, boxes: readonly PixelBox[]): void {
  if (declutter === null) return
  const tree = (declutter[VECTOR_NAMES] ??= new RBush(9))
  tree.load(
    boxes.map(({ left, top, right, bottom }) => ({
      minX: left * pixelRatio,
      minY: top * pixelRatio,
      maxX: right * pixelRatio,
      maxY: bottom * pixelRatio,
      // It is not a feature of the map.
      value: undefined as never,
    })),
  )
}

function boxAround({ x, y, radius }: Circle): PixelBox {
  return { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
}

function areApart(some: readonly PixelBox[], others: readonly PixelBox[]): boolean {
  if (some.length !== others.length) return true
  return some.some(({ left, top }, index) => {
    const other = others[index]
    return other === undefined || Math.hypot(left - other.left, top - other.top) > MOVED_PIXELS
  })
}

/** Buttons, scale and cards over a map. */
function controlsOver(map: OlMap): readonly PixelBox[] {
  const host = map.getTargetElement()?.parentElement
  if (host === null || host === undefined) return []
  const from = host.getBoundingClientRect()
  return [...host.querySelectorAll('.map-buttons > *, .map-facts > *, .map-credits, .over-map')]
    .map((control) => control.getBoundingClientRect())
    .filter(({ width }) => width > 0)
    .map(({ left, top, right, bottom }) => ({
      left: left - from.left,
      top: top - from.top,
      right: right - from.left,
      bottom: bottom - from.top,
    }))
}
