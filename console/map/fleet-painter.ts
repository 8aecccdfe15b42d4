import type OlMap from 'ol/Map.js'
import type { LiveDevice } from '../live/live-device.ts'
import { labelOf } from '../live/live-device.ts'
import { clusters, TILE_PIXELS, type Cluster } from './clusters.ts'
import { clusterRadius, drawCluster, drawDevice } from './draw-device.ts'
import { HALF_WORLD, prepare } from './map-canvas.ts'
import { metre } from './mercator.ts'
import { palette } from './palette.ts'

export type Shown = {
  readonly devices: readonly LiveDevice[]
  readonly selected: LiveDevice | undefined
}

type Placed = { readonly cluster: Cluster<LiveDevice>; readonly x: number; readonly y: number }

const LABELLED_AT_MOST = 60
const FINGER_PIXELS = 22
const FONT = '600 12px system-ui, sans-serif'

/**
 * Paints the devices on one canvas over the map: whenever the map moves, and by `paint` when they have
 * changed, without the map being rendered for it.
 */
export class FleetPainter {
  readonly #map: OlMap
  readonly #canvas = document.createElement('canvas')
  #shown: Shown = { devices: [], selected: undefined }
  #grouped: { level: number; clusters: Cluster<LiveDevice>[] } | undefined
  #placed: Placed[] = []

  constructor(map: OlMap) {
    this.#map = map
    this.#canvas.className = 'fleet-canvas'
    map.getTargetElement()?.append(this.#canvas)
    map.on('postrender', () => this.#paint())
  }

  /** Shows these devices; `paint` again after each change of one. */
  paint(shown: Shown): void {
    this.#shown = shown
    this.#grouped = undefined
    this.#paint()
  }

  /** What a finger or the mouse meets there, the topmost first. */
  at([x = 0, y = 0]: readonly number[]): Cluster<LiveDevice> | undefined {
    let best: Placed | undefined
    let nearest = Infinity
    for (const placed of this.#placed) {
      const distance = Math.hypot(placed.x - x, placed.y - y)
      const { length } = placed.cluster.devices
      const reach =
        length === 1 ? FINGER_PIXELS : Math.max(FINGER_PIXELS, clusterRadius(length) + 2)
      if (distance > reach || distance > nearest) continue
      nearest = distance
      best = placed
    }
    return best?.cluster
  }

  #paint(): void {
    const size = this.#map.getSize()
    const view = this.#map.getView()
    const resolution = view.getResolution()
    const center = view.getCenter()
    if (size === undefined || resolution === undefined || center === undefined) return
    const [width = 0, height = 0] = size
    const context = prepare(this.#canvas, width, height)
    if (context === null) return

    const world = (2 * HALF_WORLD) / resolution
    const left = ((center[0] ?? 0) / (2 * HALF_WORLD) + 0.5) * world - width / 2
    const top = (0.5 - (center[1] ?? 0) / (2 * HALF_WORLD)) * world - height / 2
    const zoom = Math.log2(world / TILE_PIXELS)
    this.#placed = []
    for (const cluster of this.#clusters(zoom)) {
      const y = cluster.y * world - top
      if (y < -40 || y > height + 40) continue
      // The world repeats to the east and the west.
      const first = Math.ceil((left - 40) / world - cluster.x)
      const last = Math.floor((left + width + 40) / world - cluster.x)
      for (let turn = first; turn <= last; turn += 1) {
        this.#placed.push({ cluster, x: (cluster.x + turn) * world - left, y })
      }
    }
    this.#draw(context, world)
  }

  #clusters(zoom: number): Cluster<LiveDevice>[] {
    const level = Math.floor(zoom + 1e-6)
    if (this.#grouped?.level !== level) {
      const { devices, selected: alone } = this.#shown
      this.#grouped = { level, clusters: clusters(devices, { zoom, alone }) }
    }
    return this.#grouped.clusters
  }

  #draw(context: CanvasRenderingContext2D, world: number): void {
    const colours = palette.peek()
    const { selected } = this.#shown
    const singles = this.#placed.filter(({ cluster }) => cluster.devices.length === 1)
    context.textBaseline = 'middle'
    context.textAlign = 'center'
    context.font = FONT
    for (const { cluster, x, y } of this.#placed) {
      const count = cluster.devices.length
      if (count > 1) drawCluster(context, x, y, { count, online: cluster.online }, colours)
    }
    for (const { cluster, x, y } of singles) {
      const [device] = cluster.devices
      if (device === undefined) continue
      const { heading, accuracy } = device.position
      const isSelected = device === selected
      if (isSelected && accuracy !== undefined) {
        context.beginPath()
        context.arc(x, y, accuracy * metre(device) * world, 0, 2 * Math.PI)
        context.fillStyle = `color-mix(in srgb, ${colours.accent} 14%, transparent)`
        context.fill()
        context.strokeStyle = colours.accent
        context.lineWidth = 1
        context.stroke()
      }
      drawDevice(context, x, y, { status: device.status, heading, isSelected }, colours)
    }
    const labelled = singles.length <= LABELLED_AT_MOST ? singles : []
    context.textAlign = 'start'
    context.lineWidth = 3
    for (const { cluster, x, y } of labelled) {
      const [device] = cluster.devices
      if (device === undefined) continue
      const text = cut(labelOf(device))
      context.strokeStyle = colours.halo
      context.strokeText(text, x + 19, y)
      context.fillStyle = colours.text
      context.fillText(text, x + 19, y)
    }
  }
}

/** Isolated, so that letters that run to the left do not turn the label round. */
function cut(text: string): string {
  const letters = [...text]
  const shown = letters.length > 28 ? `${letters.slice(0, 27).join('')}…` : text
  return `\u2068${shown}\u2069`
}
