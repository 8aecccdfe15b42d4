import type { ShownStatus } from '../live/live-device.ts'
import type { Palette } from './palette.ts'

export const DEVICE_RADIUS = 7
/** The ring around the selected one. */
export const SELECTED_RADIUS = DEVICE_RADIUS + 7

export type Drawn = {
  readonly status: ShownStatus
  readonly heading?: number | undefined
  readonly isSelected?: boolean
}

/**
 * A device at (x, y): colour and shape tell its status, so that neither alone has to; an arrow where
 * its heading is known, 0° included.
 */
export function drawDevice(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { status, heading, isSelected = false }: Drawn,
  palette: Palette,
): void {
  const colour = palette.status[status]
  context.lineWidth = 2
  context.strokeStyle = palette.surface
  context.fillStyle = colour
  if (isSelected) {
    context.beginPath()
    context.arc(x, y, SELECTED_RADIUS, 0, 2 * Math.PI)
    context.strokeStyle = palette.accent
    context.lineWidth = 3
    context.stroke()
    context.lineWidth = 2
    context.strokeStyle = palette.surface
  }
  if (heading !== undefined) {
    drawArrow(context, x, y, heading)
    context.stroke()
    context.fill()
  }
  shape(context, x, y, status)
  context.stroke()
  if (status === 'disabled') {
    context.fillStyle = palette.surface
    context.strokeStyle = colour
    context.fill()
    context.stroke()
    context.beginPath()
    context.moveTo(x - 4, y + 4)
    context.lineTo(x + 4, y - 4)
    context.stroke()
  } else context.fill()
}

function shape(context: CanvasRenderingContext2D, x: number, y: number, status: ShownStatus): void {
  context.beginPath()
  switch (status) {
    case 'online':
    case 'disabled':
      context.arc(x, y, DEVICE_RADIUS, 0, 2 * Math.PI)
      return
    case 'idle':
      context.moveTo(x, y - DEVICE_RADIUS - 1.5)
      context.lineTo(x + DEVICE_RADIUS + 1.5, y)
      context.lineTo(x, y + DEVICE_RADIUS + 1.5)
      context.lineTo(x - DEVICE_RADIUS - 1.5, y)
      context.closePath()
      return
    case 'offline':
      context.rect(
        x - DEVICE_RADIUS + 1,
        y - DEVICE_RADIUS + 1,
        2 * DEVICE_RADIUS - 2,
        2 * DEVICE_RADIUS - 2,
      )
  }
}

/** A tip outside the shape, towards where it is going. */
function drawArrow(context: CanvasRenderingContext2D, x: number, y: number, heading: number): void {
  const angle = (heading * Math.PI) / 180
  const at = (distance: number, turn: number) =>
    [x + distance * Math.sin(angle + turn), y - distance * Math.cos(angle + turn)] as const
  context.beginPath()
  context.moveTo(...at(DEVICE_RADIUS + 9, 0))
  context.lineTo(...at(DEVICE_RADIUS + 2, 0.75))
  context.lineTo(...at(DEVICE_RADIUS + 2, -0.75))
  context.closePath()
}

/** How large a cluster of so many is drawn, in pixels. */
export function clusterRadius(count: number): number {
  return Math.min(26, 13 + 3.2 * Math.log10(count) * 1.6)
}

/** A number in a ring, whose coloured part is the share that is online. */
export function drawCluster(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { count, online }: { readonly count: number; readonly online: number },
  palette: Palette,
): void {
  const radius = clusterRadius(count)
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fillStyle = palette.surface
  context.fill()
  context.lineWidth = 4
  context.strokeStyle = palette.status.offline
  context.stroke()
  if (online > 0) {
    context.beginPath()
    context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + (online / count) * 2 * Math.PI)
    context.strokeStyle = palette.status.online
    context.stroke()
  }
  context.fillStyle = palette.text
  context.fillText(shortNumber(count), x, y + 0.5)
}

/** `999`, `1.2k`, `12k`. */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(count)
  return count < 9_950 ? `${(count / 1_000).toFixed(1)}k` : `${Math.round(count / 1_000)}k`
}
