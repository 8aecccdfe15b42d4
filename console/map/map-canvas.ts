import type OlMap from 'ol/Map.js'
import Layer from 'ol/layer/Layer.js'
import type { MapPoint } from '../../schemas/geo/mercator.ts'

/** Half the world's width in the units of the map's projection. */
export const HALF_WORLD = 20_037_508.342789244

/** Sharp on high-density screens; a higher ratio has a cost but no visible benefit. */
const MOST_RATIO = 2

type Pixel = readonly [x: number, y: number]

/** The position of the world on the canvas. It repeats to the east and the west. */
export type MapView = {
  /** The size of the canvas, and the width of the world, in pixels. */
  readonly width: number
  readonly height: number
  readonly world: number
  /**
   * The pixel of a point: of its copies around the world, the one nearest to the centre, or to the
   * point `beside`.
   */
  readonly project: (point: MapPoint, beside?: MapPoint) => Pixel
  /**
   * All pixels of a point, up to `margin` pixels outside the canvas; on whole pixels of the screen.
   */
  readonly places: (point: MapPoint, margin: number) => readonly Pixel[]
  /** Whether the map is moving. */
  readonly isMoving: boolean
}

/**
 * A canvas over a map, painted again whenever the map moves and on `paint`, without rendering the
 * map.
 */
export class MapCanvas {
  readonly #map: OlMap
  readonly #draw: (context: CanvasRenderingContext2D, view: MapView) => void
  readonly #canvas = document.createElement('canvas')

  /** @param isBelowNames whether the names of a map with `areNamesAbove` are above the canvas. */
  constructor(
    map: OlMap,
    draw: (context: CanvasRenderingContext2D, view: MapView) => void,
    { isBelowNames = false } = {},
  ) {
    this.#map = map
    this.#draw = draw
    this.#canvas.className = isBelowNames ? 'track-canvas' : 'fleet-canvas'
    if (isBelowNames) map.addLayer(new CanvasLayer(this.#canvas))
    else map.getTargetElement()?.append(this.#canvas)
    map.on('postrender', () => this.#paintNow())
  }

  /**
   * Measures and positions everything before the map itself is rendered, as `draw` will find it.
   */
  look<T>(see: (context: CanvasRenderingContext2D, view: MapView) => T): T | undefined {
    const [context, view] = [this.#canvas.getContext('2d'), this.#view()]
    return context === null || view === undefined ? undefined : see(context, view)
  }

  paint(): void {
    // During a zoom, each frame paints the canvas anyway.
    if (!this.#map.getView().getAnimating()) this.#paintNow()
  }

  #paintNow(): void {
    const [width = 0, height = 0] = this.#map.getSize() ?? []
    const view = this.#view()
    if (view === undefined) return
    const context = prepare(this.#canvas, { width, height, ratio: pixelRatio() })
    if (context !== null) this.#draw(context, view)
  }

  #view(): MapView | undefined {
    const [width = 0, height = 0] = this.#map.getSize() ?? []
    const view = this.#map.getView()
    const [resolution, center] = [view.getResolution(), view.getCenter()]
    if (resolution === undefined || center === undefined) return undefined
    const ratio = pixelRatio()
    const world = (2 * HALF_WORLD) / resolution
    const middle = (center[0] ?? 0) / (2 * HALF_WORLD) + 0.5
    const top = (0.5 - (center[1] ?? 0) / (2 * HALF_WORLD)) * world - height / 2
    const left = middle * world - width / 2
    const onPixel = (at: number) => Math.round(at * ratio) / ratio
    return {
      width,
      height,
      world,
      isMoving: view.getAnimating() || view.getInteracting(),
      project({ x, y }, beside) {
        const near = beside === undefined ? middle : beside.x + Math.round(middle - beside.x)
        const turned = x + Math.round(near - x)
        return [turned * world - left, y * world - top]
      },
      places({ x, y }, margin) {
        const down = y * world - top
        if (down < -margin || down > height + margin) return []
        const first = Math.ceil((left - margin) / world - x)
        const last = Math.floor((left + width + margin) / world - x)
        const found: Pixel[] = []
        for (let turn = first; turn <= last; turn += 1) {
          found.push([onPixel((x + turn) * world - left), onPixel(down)])
        }
        return found
      },
    }
  }
}

const BELOW_NAMES = 2

/** Marks the canvas's position among the map's layers. */
class CanvasLayer extends Layer {
  /** OpenLayers would draw the next layer on a bare canvas. */
  readonly #element = document.createElement('div')

  constructor(canvas: HTMLCanvasElement) {
    super({ zIndex: BELOW_NAMES })
    // Without this, it would be below the surrounding layers, which are positioned.
    this.#element.style.position = 'absolute'
    this.#element.append(canvas)
  }

  override render(): HTMLElement {
    return this.#element
  }
}

function pixelRatio(): number {
  return Math.min(MOST_RATIO, devicePixelRatio)
}

function prepare(
  canvas: HTMLCanvasElement,
  { width, height, ratio }: { width: number; height: number; ratio: number },
): CanvasRenderingContext2D | null {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across
    canvas.height = down
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const context = canvas.getContext('2d')
  context?.setTransform(ratio, 0, 0, ratio, 0, 0)
  context?.clearRect(0, 0, width, height)
  return context
}
