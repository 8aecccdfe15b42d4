import { useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { Link2Off } from 'lucide'
import { toMercator } from '../../core/mercator.ts'
import { shownHeading } from '../../core/motion.ts'
import { DEVICE_RADIUS, drawDevice } from '../../map/draw-device.ts'
import { MapCanvas, type MapView } from '../../map/map-canvas.ts'
import { MapLabels } from '../../map/map-labels.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints } from '../../map/open-map.ts'
import { now } from '../../ui/clock.ts'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { useTitle } from '../../ui/page.tsx'
import { palette } from '../../ui/palette.ts'
import { pageAddress } from '../../ui/router.ts'
import { shownMoment } from '../../ui/shown.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { NO_POSITION, silenceText, statusOf, type ViewedDevice } from './shared-view.ts'
import { useShared } from './use-shared.ts'
import './share.css'

/** The page that a link opens: `/share#token`. */
export function SharePage() {
  const { shared, failure, isLive } = useShared(pageAddress.value.hash.slice(1))
  useTitle(shared === undefined ? 'Shared positions' : isolate(shared.name))
  const isOver =
    failure?.status === 404 ||
    failure?.status === 401 ||
    (shared !== undefined && Date.parse(shared.expiresAt) <= now.value)
  if (isOver) return <Over />
  if (shared === undefined) {
    return <main class="alone">{failure ? <Failed failure={failure} /> : <Loading />}</main>
  }
  return (
    <main class="share">
      <header class="stack tight">
        <h1>
          <Isolated>{shared.name}</Isolated>
        </h1>
        <p class="quiet">
          <span role="status" aria-label="Connection">
            {isLive ? 'live' : 'disconnected, reconnecting'}
          </span>{' '}
          · until {shownMoment(Date.parse(shared.expiresAt))}
        </p>
        {failure !== undefined && <FailedLine failure={failure} />}
        <ul class="row" aria-label="Devices">
          {shared.items.map((item) => (
            <li key={item.ref}>
              <Isolated class={item.name === shared.name ? 'unseen' : 'strong'}>
                {item.name}
              </Isolated>{' '}
              Updated <Ago at={item.timestamp} inFull />
              {statusOf(item, now.value) !== 'online' && (
                <p class="quiet">{silenceText(Date.parse(item.timestamp))}</p>
              )}
            </li>
          ))}
        </ul>
        {shared.items.length === 0 && <p>{NO_POSITION}</p>}
      </header>
      <SharedMap items={shared.items} />
    </main>
  )
}

function Over() {
  return (
    <main class="alone">
      <Empty title="This link shows nothing" icon={Link2Off}>
        <p>It has expired, was revoked, or is incomplete. Ask the sender for a new one.</p>
      </Empty>
    </main>
  )
}

/** The devices of a share and their trails. The view moves once, to show them all. */
function SharedMap({ items }: { items: readonly ViewedDevice[] }) {
  const isFitted = useRef(false)
  const latest = useRef(items)
  latest.current = items
  const statuses = items.map((item) => statusOf(item, now.value)).join()
  return (
    <MapHost
      label="Map: arrow keys move it, + and − zoom; the list holds the same devices"
      inputs={[items, statuses]}
      open={(map) => openShared(map, () => latest.current)}
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

function openShared(map: OlMap, items: () => readonly ViewedDevice[]): MapCanvas {
  const canvas = new MapCanvas(map, (context, view) => {
    layOut(context, view)
    draw(context, view, items())
    labels.draw(context)
  })
  const layOut = (context: CanvasRenderingContext2D, { width, project }: MapView) => {
    const placed = items().map((item) => {
      const [x, y] = project(pointOf(item))
      return { x, y, text: item.name, radius: DEVICE_RADIUS }
    })
    labels.place(context, placed, { viewWidth: width, obstacles: placed })
  }
  const labels = new MapLabels(map, canvas, layOut)
  return canvas
}

function draw(
  context: CanvasRenderingContext2D,
  { project }: MapView,
  items: readonly ViewedDevice[],
): void {
  const colours = palette.peek()
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
    const status = statusOf(item, now.peek())
    drawDevice(context, x, y, { status, heading: shownHeading(item) }, colours)
  }
}

function pointOf({ latitude, longitude }: { latitude: number; longitude: number }) {
  return toMercator(longitude, latitude)
}
