import { clusterRadius, RING_STEPS, type RingPart } from '../core/clusters.ts'
import type { ShownStatus } from '../core/live-device.ts'
import type { Palette } from '../core/palette.ts'

export const DEVICE_RADIUS = 7
/** The ring around the selected device. */
export const SELECTED_RADIUS = DEVICE_RADIUS + 7

export type DrawnDevice = {
  /** `past` marks a former position, without a connection status. */
  readonly status: ShownStatus | 'past'
  readonly heading?: number | undefined
  readonly isSelected?: boolean
  readonly alarm?: AlarmRing | undefined
}

/** An open call for help, or a raised rule: the rings differ in colour and shape. */
export type AlarmRing = 'sos' | 'rule'

/** From one step to the next, the arrow's tip moves by less than a pixel and a half. */
const HEADING_STEP = 5
const RING = 2
const ARROW_REACH = DEVICE_RADIUS + RING + 6
const LINE_REACH = 3
const ALARM_GAP = 4
const DASHES = { sos: [], rule: [4, 3] }

/**
 * Draws a device at (x, y), 14 pixels wide in a white ring of 2. Colour and shape both show its
 * status, so that it is visible without colours; an arrow shows its heading if known, including 0°.
 */
export function drawDevice(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { status, heading, isSelected = false, alarm }: DrawnDevice,
  palette: Palette,
): void {
  const turn = heading === undefined ? undefined : Math.round(heading / HEADING_STEP) * HEADING_STEP
  const name = `${status} ${turn} ${isSelected} ${alarm}`
  const reach = SELECTED_RADIUS + ALARM_GAP + LINE_REACH
  stamp(context, x, y, { name, reach, palette }, (picture) =>
    paintDevice(picture, { status, heading: turn, isSelected, alarm }, palette),
  )
}

/** Paints around (0, 0). */
function paintDevice(
  context: CanvasRenderingContext2D,
  { status, heading, isSelected, alarm }: DrawnDevice,
  palette: Palette,
): void {
  if (alarm !== undefined) {
    paintAlarm(
      context,
      isSelected === true ? SELECTED_RADIUS : DEVICE_RADIUS + RING,
      alarm,
      palette,
    )
  }
  const colour = status === 'past' ? palette.text : palette[status]
  if (isSelected === true) {
    context.beginPath()
    context.arc(0, 0, SELECTED_RADIUS, 0, 2 * Math.PI)
    context.strokeStyle = palette.accent
    context.lineWidth = 3
    context.stroke()
  }
  // Half of a line is inside its shape, which covers it.
  context.lineWidth = 2 * RING
  context.lineJoin = 'round'
  context.strokeStyle = palette.ring
  context.fillStyle = colour
  if (heading !== undefined) {
    paintArrow(context, heading)
    context.stroke()
    context.fill()
  }
  shape(context, status)
  context.stroke()
  context.fill()
  if (status === 'disabled') {
    context.beginPath()
    context.arc(0, 0, DEVICE_RADIUS - 2, 0, 2 * Math.PI)
    context.fillStyle = palette.surface
    context.fill()
    context.lineWidth = 2
    context.strokeStyle = colour
    context.beginPath()
    context.moveTo(-4, 4)
    context.lineTo(4, -4)
    context.stroke()
  }
}

/** Paints an alarm ring around a mark with this radius. */
function paintAlarm(
  context: CanvasRenderingContext2D,
  inner: number,
  alarm: AlarmRing,
  { bad, warn, ring }: Palette,
): void {
  context.beginPath()
  context.arc(0, 0, inner + ALARM_GAP, 0, 2 * Math.PI)
  for (const [width, colour] of [
    [5, ring],
    [3, alarm === 'sos' ? bad : warn],
  ] as const) {
    context.lineWidth = width
    context.strokeStyle = colour
    context.stroke()
    context.setLineDash(DASHES[alarm])
  }
  context.setLineDash([])
}

/** Draws the place where a device called for help. */
export function drawAlarmPlace(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { bad, ring }: Palette,
): void {
  context.beginPath()
  context.moveTo(x, y - 11)
  context.lineTo(x + 11, y + 8)
  context.lineTo(x - 11, y + 8)
  context.closePath()
  context.lineJoin = 'round'
  context.lineWidth = 3
  context.strokeStyle = ring
  context.stroke()
  context.fillStyle = bad
  context.fill()
  context.fillStyle = ring
  context.fillText('!', x, y + 1.5)
}

/** Draws a pin with its tip at the point. */
export function drawPin(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { accent, ring }: Palette,
): void {
  context.beginPath()
  context.arc(x, y - 24, 11, 0.8 * Math.PI, 0.2 * Math.PI)
  context.lineTo(x, y)
  context.closePath()
  context.lineJoin = 'round'
  context.lineWidth = 3
  context.strokeStyle = ring
  context.stroke()
  context.fillStyle = accent
  context.fill()
  context.beginPath()
  context.arc(x, y - 24, 4, 0, 2 * Math.PI)
  context.fillStyle = ring
  context.fill()
}

function shape(context: CanvasRenderingContext2D, status: DrawnDevice['status']): void {
  context.beginPath()
  switch (status) {
    case 'past':
    case 'online':
    case 'disabled':
      context.arc(0, 0, DEVICE_RADIUS, 0, 2 * Math.PI)
      return
    case 'idle':
      context.moveTo(0, -DEVICE_RADIUS - 1.5)
      context.lineTo(DEVICE_RADIUS + 1.5, 0)
      context.lineTo(0, DEVICE_RADIUS + 1.5)
      context.lineTo(-DEVICE_RADIUS - 1.5, 0)
      context.closePath()
      return
    case 'offline': {
      const half = DEVICE_RADIUS - 1
      context.rect(-half, -half, 2 * half, 2 * half)
    }
  }
}

/** An arrowhead outside the shape, towards the heading. */
function paintArrow(context: CanvasRenderingContext2D, heading: number): void {
  const angle = (heading * Math.PI) / 180
  const at = (distance: number, turn: number) =>
    [distance * Math.sin(angle + turn), -distance * Math.cos(angle + turn)] as const
  context.beginPath()
  context.moveTo(...at(ARROW_REACH, 0))
  context.lineTo(...at(DEVICE_RADIUS + RING, 0.6))
  context.lineTo(...at(DEVICE_RADIUS + RING, -0.6))
  context.closePath()
}

/** A cluster's number of devices in a ring whose parts show their statuses. */
export function drawCluster(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  {
    count,
    ring,
    alarm,
  }: {
    readonly count: number
    readonly ring: readonly RingPart[]
    readonly alarm?: AlarmRing | undefined
  },
  palette: Palette,
): void {
  const radius = clusterRadius(count)
  const name = `ring ${radius} ${alarm} ${ring.map(({ status, steps }) => `${status} ${steps}`).join(' ')}`
  stamp(context, x, y, { name, reach: radius + ALARM_GAP + LINE_REACH, palette }, (picture) => {
    paintRing(picture, { radius, ring }, palette)
    if (alarm !== undefined) paintAlarm(picture, radius, alarm, palette)
  })
  context.fillStyle = palette.text
  context.fillText(shortNumber(count), x, y + 0.5)
}

/** Paints around (0, 0). */
function paintRing(
  context: CanvasRenderingContext2D,
  { radius, ring }: { readonly radius: number; readonly ring: readonly RingPart[] },
  palette: Palette,
): void {
  context.beginPath()
  context.arc(0, 0, radius, 0, 2 * Math.PI)
  context.fillStyle = palette.surface
  context.fill()
  context.lineWidth = 4
  const angleOf = (steps: number) => (steps / RING_STEPS) * 2 * Math.PI - Math.PI / 2
  let from = 0
  for (const { status, steps } of ring) {
    context.beginPath()
    context.arc(0, 0, radius, angleOf(from), angleOf(from + steps))
    context.strokeStyle = palette[status]
    context.stroke()
    from += steps
  }
}

/** `999`, `1.2k`, `12k`. */
function shortNumber(count: number): string {
  if (count < 1_000) return String(count)
  return count < 9_950 ? `${(count / 1_000).toFixed(1)}k` : `${Math.round(count / 1_000)}k`
}

type Context = CanvasRenderingContext2D

const MOST_STAMPS = 800

let stamps = new Map<string, HTMLCanvasElement>()
let madeFor: { palette: Palette; ratio: number } | undefined

/**
 * Copies a picture to (x, y). `paint` paints it around (0, 0) on first use: without a GPU, painting
 * a ring takes many times as long as copying it.
 *
 * @param name distinguishes the picture from all others.
 * @param reach how far the picture extends from its centre, in pixels.
 */
function stamp(
  context: Context,
  x: number,
  y: number,
  { name, reach, palette }: { name: string; reach: number; palette: Palette },
  paint: (context: Context) => void,
): void {
  const ratio = context.getTransform().a
  if (madeFor?.palette !== palette || madeFor.ratio !== ratio || stamps.size >= MOST_STAMPS) {
    stamps = new Map()
    madeFor = { palette, ratio }
  }
  const half = Math.ceil(reach * ratio)
  let picture = stamps.get(name)
  if (picture === undefined) {
    picture = document.createElement('canvas')
    picture.width = picture.height = 2 * half
    const made = picture.getContext('2d')
    made?.setTransform(ratio, 0, 0, ratio, half, half)
    if (made !== null) paint(made)
    stamps.set(name, picture)
  }
  // Off the pixel grid, the picture would be blurred, and slower to copy.
  const [left, top] = [Math.round(x * ratio) - half, Math.round(y * ratio) - half]
  context.drawImage(picture, left / ratio, top / ratio, (2 * half) / ratio, (2 * half) / ratio)
}
