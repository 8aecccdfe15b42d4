import type OlMap from 'ol/Map.js'
import { labelOf, type LiveDevice } from '../core/live-device.ts'
import { motionText } from '../core/device-words.ts'
import {
  clusterRadius,
  clusters,
  TILE_PIXELS,
  statusRing,
  moveAside,
  type Cluster,
  type RingPart,
} from '../core/clusters.ts'
import {
  DEVICE_RADIUS,
  drawAlarmPlace,
  drawCluster,
  drawDevice,
  drawPin,
  SELECTED_RADIUS,
  type AlarmRing,
} from './draw-device.ts'
import type { Circle } from '../core/label-place.ts'
import { LABEL_FONT } from './draw-label.ts'
import { MapCanvas, type MapView } from './map-canvas.ts'
import { MapLabels } from './map-labels.ts'
import { metre, type MapPoint } from '../../schemas/geo/mercator.ts'
import { headingOf } from '../core/motion.ts'
import { palette } from '../ui/palette.ts'
import { readerUnits } from '../ui/shown.ts'

export type ShownFleet = {
  readonly devices: readonly LiveDevice[]
  readonly selected: LiveDevice | undefined
  readonly now: number
  /** The devices calling for help. */
  readonly sos: ReadonlySet<string>
  /** The place where the selected device called for help, drawn besides its current position. */
  readonly alarmAt?: MapPoint | undefined
  /** A point chosen by the user. */
  readonly pin?: MapPoint | undefined
}

type PlacedCluster = {
  readonly cluster: Cluster<LiveDevice>
  readonly x: number
  readonly y: number
}

const LABELLED_AT_MOST = 60
/** From this zoom on labels have a second line; that of the selected device always has one. */
const NOTES_FROM = 14
const FINGER_PIXELS = 22
const MARGIN_PIXELS = 40
const KEPT_WHILE_MOVING_MS = 500

/**
 * Paints the devices on one canvas over the map: whenever the map moves, and on `paint` when
 * devices have changed, without rendering the map.
 */
export class FleetPainter {
  readonly #map: OlMap
  readonly #canvas: MapCanvas
  #shown: ShownFleet = {
    devices: [],
    selected: undefined,
    now: 0,
    sos: new Set(),
  }
  #grouped: { level: number; at: number; clusters: Cluster<LiveDevice>[] } | undefined
  /** Whether devices have changed since they were grouped. */
  #areOld = false
  /** The rings of the clusters drawn since then. */
  readonly #rings = new Map<Cluster<LiveDevice>, RingPart[]>()
  #placed: PlacedCluster[] = []
  readonly #labels: MapLabels
  /** Whether the next drawing already has its layout. */
  #isLaidOut = false

  constructor(map: OlMap) {
    this.#map = map
    this.#canvas = new MapCanvas(map, (context, view) => {
      if (!this.#isLaidOut) this.#layOut(context, view)
      this.#isLaidOut = false
      this.#draw(context, view)
    })
    this.#labels = new MapLabels(map, this.#canvas, (context, view) => {
      this.#layOut(context, view)
      this.#isLaidOut = true
    })
  }

  /** Shows these devices; call `paint` again after each change of one. */
  paint(shown: ShownFleet): void {
    // The selected device leaves its cluster without a delay.
    if (shown.selected !== this.#shown.selected) this.#grouped = undefined
    this.#areOld = true
    this.#shown = shown
    this.#canvas.paint()
  }

  /** The topmost cluster under a finger or the mouse. */
  at([x = 0, y = 0]: readonly number[]): Cluster<LiveDevice> | undefined {
    let best: PlacedCluster | undefined
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

  /** The devices in view, from west to east. */
  inView(): readonly LiveDevice[] {
    const [width = 0, height = 0] = this.#map.getSize() ?? []
    const visible = this.#placed.filter(({ x, y }) => x >= 0 && x <= width && y >= 0 && y <= height)
    const devices = new Set(visible.flatMap(({ cluster }) => cluster.devices))
    return [...devices].sort((a, b) => a.x - b.x || (a.deviceId < b.deviceId ? -1 : 1))
  }

  #layOut(context: CanvasRenderingContext2D, view: MapView): void {
    this.#place(view)
    const { selected, now } = this.#shown
    const hasNotes = zoomOf(view) >= NOTES_FROM
    const labels = this.#singles()
      .sort((a, b) => Number(b.device === selected) - Number(a.device === selected))
      .slice(0, LABELLED_AT_MOST)
      .map(({ device, x, y }) => {
        const isSelected = device === selected
        const isNoted = hasNotes || isSelected
        const note = isNoted ? motionText(device, now, readerUnits()) : undefined
        return { x, y, text: labelOf(device), note, isWanted: isSelected }
      })
    const obstacles = this.#placed.map((one) => circleOf(one, selected))
    this.#labels.place(context, labels, { viewWidth: view.width, obstacles })
  }

  /** The ungrouped devices, with their positions. */
  #singles() {
    return this.#placed.flatMap(({ cluster: { devices }, x, y }) => {
      const [device] = devices
      return devices.length === 1 && device !== undefined ? [{ device, x, y }] : []
    })
  }

  #place(view: MapView): void {
    const { places, isMoving } = view
    this.#placed = this.#clusters(zoomOf(view), isMoving).flatMap((cluster) =>
      places(cluster, MARGIN_PIXELS).map(([x, y]) => ({ cluster, x, y })),
    )
    const { selected } = this.#shown
    if (selected === undefined) return
    // Otherwise the device's mark would hide the number of a cluster beneath it.
    for (const [x, y] of places(selected, MARGIN_PIXELS)) {
      this.#placed = this.#placed.map((one) => {
        const { length } = one.cluster.devices
        if (length === 1) return one
        return { ...one, ...moveAside(one, { x, y }, clusterRadius(length) + SELECTED_RADIUS) }
      })
    }
  }

  /** Grouping takes the time of a whole frame, so it waits while the map moves. */
  #clusters(zoom: number, isMoving: boolean): Cluster<LiveDevice>[] {
    const level = Math.floor(zoom + 1e-6)
    const now = performance.now()
    const keptMs = isMoving ? KEPT_WHILE_MOVING_MS : 0
    if (this.#grouped?.level !== level || (this.#areOld && now - this.#grouped.at >= keptMs)) {
      const { devices, selected: alone } = this.#shown
      this.#grouped = { level, at: now, clusters: clusters(devices, { zoom, alone }) }
      this.#areOld = false
      this.#rings.clear()
    }
    return this.#grouped.clusters
  }

  #ring(cluster: Cluster<LiveDevice>): RingPart[] {
    const ring = this.#rings.get(cluster) ?? statusRing(cluster.devices)
    this.#rings.set(cluster, ring)
    return ring
  }

  #alarm(devices: readonly LiveDevice[]): AlarmRing | undefined {
    const { sos } = this.#shown
    if (sos.size > 0 && devices.some(({ deviceId }) => sos.has(deviceId))) return 'sos'
    return devices.some(({ raised }) => raised.length > 0) ? 'rule' : undefined
  }

  /** Draws the place of the call for help, and a line from there to the device. */
  #drawAlarm(context: CanvasRenderingContext2D, { project }: MapView): void {
    const { alarmAt, selected } = this.#shown
    if (alarmAt === undefined || selected === undefined) return
    const colours = palette.peek()
    const [x, y] = project(alarmAt, selected)
    context.beginPath()
    context.moveTo(x, y)
    context.lineTo(...project(selected))
    context.lineWidth = 2
    context.strokeStyle = colours.bad
    context.setLineDash([6, 5])
    context.stroke()
    context.setLineDash([])
    drawAlarmPlace(context, x, y, colours)
  }

  #draw(context: CanvasRenderingContext2D, view: MapView): void {
    const { world } = view
    const colours = palette.peek()
    const { selected } = this.#shown
    context.textBaseline = 'middle'
    context.textAlign = 'center'
    context.font = LABEL_FONT
    this.#drawAlarm(context, view)
    for (const { cluster, x, y } of this.#placed) {
      const { devices } = cluster
      if (devices.length === 1) continue
      const shown = {
        count: devices.length,
        ring: this.#ring(cluster),
        alarm: this.#alarm(devices),
      }
      drawCluster(context, x, y, shown, colours)
    }
    for (const { device, x, y } of this.#singles()) {
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
      const shown = headingOf({ ...device.motion, heading })
      const { status } = device
      const alarm = this.#alarm([device])
      drawDevice(context, x, y, { status, heading: shown, isSelected, alarm }, colours)
    }
    this.#labels.draw(context)
    const { pin } = this.#shown
    if (pin !== undefined) {
      for (const [x, y] of view.places(pin, MARGIN_PIXELS)) drawPin(context, x, y, colours)
    }
  }
}

function zoomOf({ world }: MapView): number {
  return Math.log2(world / TILE_PIXELS)
}

function circleOf(
  { cluster: { devices }, x, y }: PlacedCluster,
  selected: LiveDevice | undefined,
): Circle {
  const { length } = devices
  const alone = devices[0] === selected ? SELECTED_RADIUS : DEVICE_RADIUS
  return { x, y, radius: length === 1 ? alone : clusterRadius(length) }
}
