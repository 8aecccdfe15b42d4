import { useEffect, useState } from 'preact/hooks'
import { noteServerTime, serverNow } from '../../api/client.ts'
import { failureOf, toFailure, unreachableFailure, type ApiFailure } from '../../core/failure.ts'
import { openStream } from '../../live/open-stream.ts'
import { addressOf } from '../../core/address.ts'
import { areStreetsShown, offeredLayers } from '../../map/layers.ts'
import { now } from '../../ui/clock.ts'
import { livenessOf, type Liveness } from '../../../schemas/devices/liveness.ts'
import type { components } from '../../api/schema.ts'
import { advanceMotion, type Motion } from '../../core/motion.ts'
import { date } from '../../core/times.ts'
import { readerZone } from '../../ui/preferences.ts'
import { formatClock, formatDateTime } from '../../ui/shown.ts'

type SharedState = {
  readonly shared?: Shared
  readonly failure?: ApiFailure
  readonly isLive: boolean
}

const RETRY_MS = 5_000
const LONGEST_MS = 30_000
const READ_AGAIN_MS = 60_000
/**
 * A report from just before the stream was opened may be stored only after the share is first read.
 * The service returns the same response for two seconds.
 */
const STORED_BY_MS = 3_000

/**
 * The content of a share, live: opens the stream, then reads the list, and both again after each
 * lost connection.
 */
export function useShared(token: string): SharedState {
  const [state, setState] = useState<SharedState>({ isLive: false })
  useEffect(() => {
    const headers = { Authorization: `Bearer ${token}` }
    const closing = new AbortController()
    let reading = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    /** The newest position of each device since the stream was opened: the list may be older. */
    const newestPositions = new Map<string, ViewedDevice>()

    function read(againMs: number): void {
      clearTimeout(timer)
      reading.abort()
      reading = new AbortController()
      const signal = AbortSignal.any([reading.signal, closing.signal])
      readShared(headers, signal).then(
        (shared) => {
          if (signal.aborted) return
          noteServerTime(Date.parse(shared.asOf))
          now.value = serverNow()
          areStreetsShown.value = shared.showsStreets
          offeredLayers.value ??= shared.maps
          setState(({ isLive }) => ({
            shared: [...newestPositions.values()].reduce(applyPosition, shared),
            isLive,
          }))
          timer = setTimeout(read, againMs, READ_AGAIN_MS)
        },
        (thrown: unknown) => {
          if (signal.aborted) return
          const failure = toFailure(thrown)
          setState((before) => ({ ...before, failure }))
          if (FINAL.includes(failure.status)) return
          const retryMs = Math.max(RETRY_MS, (failure.retryAt ?? 0) - Date.now())
          timer = setTimeout(read, retryMs, againMs)
        },
      )
    }

    const stream = openStream({
      url: addressOf('/api/v1/shared/stream'),
      headers,
      onOpen() {
        setState((before) => ({ ...before, isLive: true }))
        read(STORED_BY_MS)
      },
      onEvents(events) {
        const positions = events
          .filter(({ name }) => name === 'position')
          .map(({ data }) => JSON.parse(data) as ViewedDevice)
        for (const one of positions) {
          const before = newestPositions.get(one.ref)
          if (before === undefined || before.timestamp < one.timestamp)
            newestPositions.set(one.ref, one)
        }
        setState(({ shared, ...before }) => ({
          ...before,
          ...(shared && { shared: positions.reduce(applyPosition, shared) }),
        }))
      },
      onLost() {
        // A device may have left the share.
        newestPositions.clear()
        setState((before) => ({ ...before, isLive: false }))
        // Either the share has ended, or only its stream was rejected.
        read(READ_AGAIN_MS)
      },
      onUnauthorized: () => Promise.resolve(false),
      final: FINAL,
    })
    return () => {
      stream.close()
      closing.abort()
      clearTimeout(timer)
    }
  }, [token])
  return state
}

/** Statuses of an unknown or ended share. */
const FINAL = [401, 404]

/** @throws {ApiFailure} 404 for an unknown, expired or revoked share. */
async function readShared(
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Shared> {
  const response = await fetch(addressOf('/api/v1/shared'), {
    headers,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]),
    credentials: 'omit',
  }).catch((cause: unknown) => {
    throw unreachableFailure(cause)
  })
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
  if (!response.ok || body === undefined) throw failureOf(response, body)
  return body['data'] as Shared
}

export type Shared = components['schemas']['Shared']
export type ViewedDevice = components['schemas']['SharedDevice']

/**
 * Updates a share with a stream event of one of its devices; late reports do not move the device.
 */
function applyPosition(shared: Shared, update: ViewedDevice): Shared {
  const before = shared.items.find(({ ref }) => ref === update.ref)
  if (before !== undefined && before.timestamp >= update.timestamp) return shared
  const { latitude, longitude, timestamp } = update
  const from = Date.parse(timestamp) - shared.trailMinutes * 60_000
  const trail = [...(before?.trail ?? []), { latitude, longitude, timestamp }].filter(
    (point) => Date.parse(point.timestamp) >= from,
  )
  const now: ViewedDevice = { ...update, ...(shared.trailMinutes > 0 && { trail }) }
  const items =
    before === undefined
      ? [...shared.items, now]
      : shared.items.map((one) => (one === before ? now : one))
  return { ...shared, items }
}

export function statusOf({ timestamp }: Pick<ViewedDevice, 'timestamp'>, at: number): Liveness {
  return livenessOf({ lastSeenAt: Date.parse(timestamp) }, at)
}

/** The device's motion, judged by its trail. */
export function motionOf({ trail = [], ...device }: ViewedDevice): Motion {
  const earlier = trail.filter(({ timestamp }) => timestamp < device.timestamp)
  return [...earlier, device].reduce<Motion | undefined>(
    (before, position) =>
      advanceMotion(before, position, { atMs: Date.parse(position.timestamp), isNext: true }),
    undefined,
  ) as Motion
}

/** A moment for the reader: `19:04`, on another day `Tue 24 Nov 19:04`. */
export function readerTime(at: number): string {
  const [day, today] = [at, now.value].map((ms) => date(ms, readerZone()))
  return day === today ? formatClock(at, { hasSeconds: false }) : formatDateTime(at)
}

/** Shown instead of devices that have not reported since their link was created. */
export const NO_POSITION = 'No position yet. It appears here when there is one.'

/** Explains a device's silence to people waiting for it; `at` is the time of its last position. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${readerTime(at)}.`
}
