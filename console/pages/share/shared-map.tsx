import 'ol/ol.css'
import '../../map/map.css'
import { useEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { DEVICE_RADIUS, drawDevice } from '../../map/draw-device.ts'
import { drawLabel, LABEL_FONT } from '../../map/draw-label.ts'
import { MapCanvas, type MapView } from '../../map/map-canvas.ts'
import { toMercator } from '../../core/mercator.ts'
import { fitPoints, openMap } from '../../map/open-map.ts'
import { MapButtons } from '../../map/map-buttons.tsx'
import { MapCredits } from '../../map/map-credits.tsx'
import { palette } from '../../ui/palette.ts'
import { now } from '../../ui/clock.ts'
import { livenessOf } from '../../../schemas/liveness.ts'
import type { SharedDevice } from './shared-view.ts'

/** The devices of a share and their trails. The view moves once, to show them all. */
export function SharedMap({ items }: { items: readonly SharedDevice[] }) {
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; canvas: MapCanvas; isFitted: boolean }>(null)
  const latest = useRef(items)
  latest.current = items

  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current)
    const canvas = new MapCanvas(map, (context, view) => draw(context, view, latest.current))
    shown.current = { map, canvas, isFitted: false }
    return close
  }, [])

  const colours = palette.value
  const statuses = items.map((item) => statusOf(item, now.value)).join()
  useEffect(() => {
    const { current } = shown
    if (current === null) return
    if (!current.isFitted && items.length > 0) {
      current.isFitted = true
      fitPoints(current.map, items.map(pointOf), { animated: false })
    }
    current.canvas.paint()
  }, [items, statuses, colours])

  return (
    <div class="fleet-map">
      <div
        ref={target}
        class="map-target"
        tabIndex={0}
        role="application"
        aria-label="Map: arrow keys move it, + and − zoom; the list holds the same devices"
      />
      <MapButtons map={() => shown.current?.map} />
      <MapCredits />
    </div>
  )
}

function draw(
  context: CanvasRenderingContext2D,
  { project }: MapView,
  items: readonly SharedDevice[],
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
    drawLabel(context, x, y, { text: item.name, obstacles: placed }, colours)
  }
}

function statusOf({ timestamp }: SharedDevice, at: number) {
  return livenessOf({ lastSeenAt: Date.parse(timestamp) }, at)
}

function pointOf({ latitude, longitude }: { latitude: number; longitude: number }) {
  return toMercator(longitude, latitude)
}
