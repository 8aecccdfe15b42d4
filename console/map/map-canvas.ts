import type OlMap from 'ol/Map.js'
import type { Point } from './mercator.ts'

/** Half the world in the units of the map's projection. */
export const HALF_WORLD = 20_037_508.342789244

/**
 * Where a point of the world is on the canvas. The world repeats: of its copies the one nearest to the
 * middle, or to the point `beside`.
 */
export type Projected = (point: Point, beside?: Point) => readonly [x: number, y: number]

/**
 * A canvas over a map, drawn anew whenever the map moves and by `paint`, without the map being
 * rendered for it.
 */
export class MapCanvas {
  readonly #map: OlMap
  readonly #draw: (context: CanvasRenderingContext2D, project: Projected) => void
  readonly #canvas = document.createElement('canvas')

  constructor(map: OlMap, draw: (context: CanvasRenderingContext2D, project: Projected) => void) {
    this.#map = map
    this.#draw = draw
    this.#canvas.className = 'fleet-canvas'
    map.getTargetElement()?.append(this.#canvas)
    map.on('postrender', () => this.paint())
  }

  paint(): void {
    const [width = 0, height = 0] = this.#map.getSize() ?? []
    const resolution = this.#map.getView().getResolution()
    const center = this.#map.getView().getCenter()
    if (resolution === undefined || center === undefined) return
    const context = prepare(this.#canvas, width, height)
    if (context === null) return
    const world = (2 * HALF_WORLD) / resolution
    const middle = (center[0] ?? 0) / (2 * HALF_WORLD) + 0.5
    const top = (0.5 - (center[1] ?? 0) / (2 * HALF_WORLD)) * world - height / 2
    const project: Projected = ({ x, y }, beside) => {
      const near = beside === undefined ? middle : beside.x + Math.round(middle - beside.x)
      const turned = x + Math.round(near - x)
      return [(turned - middle) * world + width / 2, y * world - top]
    }
    this.#draw(context, project)
  }
}

/** Sharp on screens with smaller pixels; more than two a side costs more than it shows. */
export function prepare(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = Math.min(2, devicePixelRatio)
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
