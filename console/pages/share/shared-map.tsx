import 'ol/ol.css'
import '../../style/map.css'
import { useEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { drawDevice } from '../../map/draw-device.ts'
import { MapCanvas, type Projected } from '../../map/map-canvas.ts'
import { toMercator } from '../../map/mercator.ts'
import { credits, fitPoints, openMap } from '../../map/open-map.ts'
import { palette } from '../../map/palette.ts'
import { now } from '../../parts/clock.ts'
import { livenessOf } from '../../../schemas/liveness.ts'
import type { SharedDevice } from './shared-view.ts'

/** The devices of a share and where they came from. The view moves once, to show them all. */
export function SharedMap({ items }: { items: readonly SharedDevice[] }) {
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; canvas: MapCanvas; isFitted: boolean }>(null)
  const latest = useRef(items)
  latest.current = items

  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current)
    const canvas = new MapCanvas(map, (context, project) => draw(context, project, latest.current))
    shown.current = { map, canvas, isFitted: false }
    return close
  }, [])

  const colours = palette.value
  useEffect(() => {
    const { current } = shown
    if (current === null) return
    if (!current.isFitted && items.length > 0) {
      current.isFitted = true
      fitPoints(current.map, items.map(pointOf), { animated: false })
    }
    current.canvas.paint()
  }, [items, colours])

  return (
    <div class="fleet-map">
      <div
        ref={target}
        class="map-target"
        tabIndex={0}
        role="application"
        aria-label="Map: arrow keys move it, + and − zoom; the list holds the same devices"
      />
      <p class="map-credits">{credits.value.join(' · ')}</p>
    </div>
  )
}

function draw(
  context: CanvasRenderingContext2D,
  project: Projected,
  items: readonly SharedDevice[],
): void {
  const colours = palette.peek()
  context.font = '600 12px system-ui, sans-serif'
  context.textBaseline = 'middle'
  for (const item of items) {
    const at = pointOf(item)
    context.beginPath()
    for (const place of item.trail ?? []) context.lineTo(...project(pointOf(place), at))
    context.strokeStyle = colours.accent
    context.lineWidth = 3
    context.stroke()
  }
  for (const item of items) {
    const [x, y] = project(pointOf(item))
    const status = livenessOf({ lastSeenAt: Date.parse(item.timestamp) }, now.peek())
    drawDevice(context, x, y, { status, heading: item.heading }, colours)
    const text = `\u2068${item.name}\u2069`
    context.lineWidth = 3
    context.strokeStyle = colours.halo
    context.strokeText(text, x + 19, y)
    context.fillStyle = colours.text
    context.fillText(text, x + 19, y)
  }
}

function pointOf({ latitude, longitude }: { latitude: number; longitude: number }) {
  return toMercator(longitude, latitude)
}
