import { useRef } from 'preact/hooks'
import { toMercator } from '../../core/mercator.ts'
import { DEVICE_RADIUS, drawDevice } from '../../map/draw-device.ts'
import { drawLabel, LABEL_FONT } from '../../map/draw-label.ts'
import { MapCanvas, type MapView } from '../../map/map-canvas.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints } from '../../map/open-map.ts'
import { now } from '../../ui/clock.ts'
import { palette } from '../../ui/palette.ts'
import { statusOf, type ViewedDevice } from './shared-view.ts'

/** The devices of a share and their trails. The view moves once, to show them all. */
export function SharedMap({ items }: { items: readonly ViewedDevice[] }) {
  const isFitted = useRef(false)
  const latest = useRef(items)
  latest.current = items
  const statuses = items.map((item) => statusOf(item, now.value)).join()
  return (
    <MapHost
      label="Map: arrow keys move it, + and − zoom; the list holds the same devices"
      inputs={[items, statuses]}
      open={(map) => new MapCanvas(map, (context, view) => draw(context, view, latest.current))}
      paint={(map, canvas) => {
        if (!isFitted.current && items.length > 0) {
          isFitted.current = true
          // A viewer of a link wants to know the street.
          fitPoints(map, items.map(pointOf), { animated: false, aloneZoom: 16 })
        }
        canvas.paint()
      }}
    />
  )
}

function draw(
  context: CanvasRenderingContext2D,
  { width, project }: MapView,
  items: readonly ViewedDevice[],
): void {
  const colours = palette.peek()
  context.font = LABEL_FONT
  for (const item of items) {
    const at = pointOf(item)
    context.beginPath()
    for (const place of item.trail ?? []) context.lineTo(...project(pointOf(place), at))
    context.strokeStyle = colours.accent
    context.lineWidth = 3
    context.stroke()
  }
  const placed = items.map((item) => {
    const [x, y] = project(pointOf(item))
    return { item, x, y, radius: DEVICE_RADIUS }
  })
  for (const { item, x, y } of placed) {
    const status = statusOf(item, now.peek())
    drawDevice(context, x, y, { status, heading: item.heading }, colours)
  }
  for (const { item, x, y } of placed) {
    drawLabel(context, x, y, { text: item.name, obstacles: placed, viewWidth: width }, colours)
  }
}

function pointOf({ latitude, longitude }: { latitude: number; longitude: number }) {
  return toMercator(longitude, latitude)
}
