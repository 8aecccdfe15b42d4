import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Link2Off } from 'lucide'
import type OlMap from 'ol/Map.js'
import { movementText } from '../../core/device-words.ts'
import { placeText } from '../../core/place-words.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import { headingOf } from '../../core/motion.ts'
import { DEVICE_RADIUS, drawDevice } from '../../map/draw-device.ts'
import { MapCanvas, type MapView } from '../../map/map-canvas.ts'
import { MapHost } from '../../map/map-host.tsx'
import { MapLabels } from '../../map/map-labels.ts'
import { fitPoints, nearZoom } from '../../map/open-map.ts'
import { now } from '../../ui/clock.ts'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { useTitle } from '../../ui/page.tsx'
import { palette } from '../../ui/palette.ts'
import { pageAddress } from '../../ui/router.ts'
import { readerUnits } from '../../ui/shown.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import {
  motionOf,
  NO_POSITION,
  readerTime,
  silenceText,
  statusOf,
  type Shared,
  type ViewedDevice,
  useShared,
} from './use-shared.ts'
import './share.css'

/** The page opened by a link: `/share#token`. */
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
      <SharedMap items={shared.items} />
      <Card shared={shared} isLive={isLive}>
        {failure !== undefined && <FailedLine failure={failure} />}
      </Card>
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

/**
 * The title of the link and the state of each device: at the bottom of a phone, otherwise on the
 * left.
 */
function Card({
  shared: { name, items, expiresAt },
  isLive,
  children,
}: {
  shared: Shared
  isLive: boolean
  children: ComponentChildren
}) {
  const card = useRef<HTMLElement>(null)
  // On a card at the bottom edge, the map's scale and credits are above the card.
  useLayoutEffect(() => {
    const element = card.current
    if (element === null) return undefined
    const resized = new ResizeObserver(() => {
      element.parentElement?.style.setProperty('--card', `${element.offsetHeight}px`)
    })
    resized.observe(element)
    return () => resized.disconnect()
  }, [])
  return (
    <section
      ref={card}
      class="share-card over-map floating stack some"
      aria-label="Shared positions"
    >
      <h1>
        <Isolated>{name}</Isolated>
      </h1>
      {children}
      <ul class="stack" aria-label="Devices">
        {items.map((item) => (
          <SharedDevice key={item.ref} of={item} isTitle={item.name === name} />
        ))}
      </ul>
      {items.length === 0 && <p>{NO_POSITION}</p>}
      <p class="note">
        <span role="status" aria-label="Connection">
          {isLive ? 'live' : 'disconnected, reconnecting'}
        </span>{' '}
        · until {readerTime(Date.parse(expiresAt))}
      </p>
    </section>
  )
}

function SharedDevice({ of: item, isTitle }: { of: ViewedDevice; isTitle: boolean }) {
  const { name, timestamp, latitude, longitude } = item
  const at = Date.parse(timestamp)
  const status = statusOf(item, now.value)
  const motion = movementText(
    { status, lastSeenMs: at, motion: motionOf(item) },
    now.value,
    readerUnits(),
  )
  const place = placeText(item.place ?? null)
  const doing = [motion, place && `near ${place}`].filter(Boolean).join(' · ')
  return (
    <li class="stack tight">
      <div class="stack tight">
        <Isolated class={isTitle ? 'unseen' : 'strong'}>{name}</Isolated>
        {doing !== '' && (
          <p class="share-motion">
            <Isolated>{doing}</Isolated>
          </p>
        )}
        <p class="quiet">
          Updated{' '}
          <time dateTime={timestamp} title={timestamp} class="time">
            {readerTime(at)}
          </time>
        </p>
        {status !== 'online' && <p class="quiet">{silenceText(at)}</p>}
      </div>
      <a
        class="button"
        href={`https://www.google.com/maps/search/?api=1&query=${latitude},${longitude}`}
        target="_blank"
        rel="noreferrer"
        data-outside
      >
        Open in Google Maps
      </a>
    </li>
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
        const [first] = items
        if (!isFitted.current && first !== undefined) {
          isFitted.current = true
          fitPoints(map, items.map(pointOf), {
            animated: false,
            // A viewer of a link wants to know the street.
            aloneZoom: nearZoom(pointOf(first)),
            padding: paddingBesidePanel(map),
          })
        }
        canvas.paint()
      }}
    />
  )
}

/** Padding that keeps devices beside the card, or above it. */
function paddingBesidePanel(map: OlMap): number[] {
  const [width = 0] = map.getSize() ?? []
  const card = document.querySelector<HTMLElement>('.share-card')
  if (card === null) return [60, 110, 60, 60]
  return card.offsetWidth > width / 2
    ? [60, 90, card.offsetHeight + 60, 60]
    : [60, 110, 60, card.offsetLeft + card.offsetWidth + 40]
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
  context.lineJoin = 'round'
  context.lineCap = 'round'
  for (const item of items) {
    const at = pointOf(item)
    context.beginPath()
    for (const place of item.trail ?? []) context.lineTo(...project(pointOf(place), at))
    for (const [width, colour] of [
      [7, colours.ring],
      [4, colours.accent],
    ] as const) {
      context.lineWidth = width
      context.strokeStyle = colour
      context.stroke()
    }
  }
  for (const item of items) {
    const [x, y] = project(pointOf(item))
    const status = statusOf(item, now.peek())
    drawDevice(context, x, y, { status, heading: headingOf(item) }, colours)
  }
}

function pointOf({ latitude, longitude }: { latitude: number; longitude: number }) {
  return toMercator(longitude, latitude)
}
