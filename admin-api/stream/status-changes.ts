import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { includes } from '../../event-log/offsets.ts'
import type { PositionEntry, SeenEntry } from '../../event-log/event-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import { livenessLastsUntil, type Liveness } from '../../schemas/devices/liveness.ts'
import { liveness, type Device, type Origin } from '../../schemas/devices/read-models.ts'
import type { DeviceInterval, DevicePlace, Devices } from '../../store/read-models.ts'
import { deviceView } from '../devices/device-view.ts'
import type { LiveFeed } from '../../event-log/reading/live-feed.ts'
import { eventFrame } from './frames.ts'

export type StatusStore = Pick<Devices, 'findDevices' | 'pageDevices' | 'devicesWithInterval'>

/** Pushes into the ring how an account's devices have changed since the last call. */
export type StatusChanges = {
  reported(device: { deviceId: string }, origin: Origin): void
  look(): Promise<void>
}

type Report = { readonly origin: Origin; readonly listedAt: number }

/** A device with an expected interval, as last read. */
type Watched = {
  readonly expectedIntervalSeconds: number
  /** Undefined if the device has not reported. */
  readonly status: Liveness | undefined
  readonly readAgainAt: number
}

const MOST_DEVICES = 10_000
const ASKED_AT_ONCE = 250
/** How long to wait for the change caused by a report; a repeated import changes nothing. */
const LONGEST_LISTED_MS = 10 * 60_000
/** A device that reported shortly before the first reader joined may not be projected yet. */
const JUST_NOW_MS = 60_000
/**
 * The silences after which the status of a device without its own interval changes: see `liveness`.
 */
const SILENCES_MS = [5 * 60_000, 60 * 60_000]
/** A device's status may have changed without a report in this list. */
const READ_AGAIN_MS = 60_000
/**
 * Many simultaneous changes are spread over time, or they would push everything else out of the
 * ring.
 */
const PUSHED_AT_ONCE = 1_000
const PUSH_PAUSE_MS = 100

export function statusChanges({
  accountId,
  feed,
  store,
  clock,
  signal,
}: {
  accountId: string
  feed: LiveFeed
  store: StatusStore
  clock: Clock
  signal: AbortSignal
}): StatusChanges {
  const listed = new LRUCache<string, Report>({ max: MOST_DEVICES })
  /** The last status sent for each device. */
  const sent = new LRUCache<string, string>({ max: MOST_DEVICES })
  let watched: Map<string, Watched> | undefined
  let lookedAt = clock.now()
  let seeded = false
  let pushed = 0

  return {
    reported({ deviceId }, origin) {
      listed.set(deviceId, { origin, listedAt: clock.now() })
    },

    async look() {
      const now = clock.now()
      const since = Math.min(lookedAt, now)
      seed(now)
      await lookAtReported(now)
      for (const silenceMs of SILENCES_MS) await lookAtSilent(since - silenceMs, now - silenceMs)
      await lookAtIntervals(since, now)
      lookedAt = now
    },
  }

  /** A new reader may have read the statuses before these reports were projected. */
  function seed(now: number): void {
    if (seeded || !feed.isCaughtUp()) return
    seeded = true
    for (let number = feed.ring.first; number < feed.ring.end; number += 1) {
      const entry = feed.ring.at(number)
      if (entry?.kind === 'position') list(entry)
    }
    for (const entry of feed.heartbeats()) list(entry)

    function list({ event, origin }: PositionEntry | SeenEntry): void {
      if (event.accountId !== accountId || event.receivedAt < now - JUST_NOW_MS) return
      listed.set(event.deviceId, { origin, listedAt: now })
    }
  }

  async function lookAtReported(now: number): Promise<void> {
    const reports = new Map(listed.entries())
    await forDevices([...reports.keys()], async (device) => {
      const { deviceId, applied } = device.status
      const report = reports.get(deviceId)
      await tell(device, now)
      watch(watched, device, now)
      if (report === undefined || listed.peek(deviceId) !== report) return
      if (includes(applied, report.origin)) listed.delete(deviceId)
    })
    for (const [deviceId, { listedAt }] of reports) {
      if (listedAt < now - LONGEST_LISTED_MS) listed.delete(deviceId)
    }
  }

  /** Devices whose silence started between `seenFrom` (inclusive) and `seenBefore` (exclusive). */
  async function lookAtSilent(seenFrom: number, seenBefore: number): Promise<void> {
    let after: DevicePlace | undefined
    while (seenFrom < seenBefore && !signal.aborted) {
      const devices = await store.pageDevices({
        accountId,
        sort: 'lastSeenAt',
        limit: ASKED_AT_ONCE,
        seenFrom,
        seenBefore,
        ...(after !== undefined && { after }),
      })
      const now = clock.now()
      for (const device of devices) {
        if (device.settings.expectedIntervalSeconds === undefined) await tell(device, now)
      }
      after = devices.at(-1)?.place
      if (devices.length < ASKED_AT_ONCE) return
      await endOfTurn()
    }
  }

  async function lookAtIntervals(since: number, now: number): Promise<void> {
    const before = watched
    const nowWatched = new Map<string, Watched>()
    const devices = await store.devicesWithInterval(accountId)
    for (let start = 0; start < devices.length && !signal.aborted; start += ASKED_AT_ONCE) {
      const due: string[] = []
      for (const one of devices.slice(start, start + ASKED_AT_ONCE)) {
        const { deviceId, expectedIntervalSeconds } = one
        const known = before?.get(deviceId)
        if (known !== undefined && !isDue(known, one, now)) nowWatched.set(deviceId, known)
        else {
          due.push(deviceId)
          const readAgainAt = now + READ_AGAIN_MS
          nowWatched.set(deviceId, { expectedIntervalSeconds, status: known?.status, readAgainAt })
        }
      }
      await forDevices(due, async (device) => {
        const { deviceId } = device.status
        const last =
          before === undefined ? liveness(device, since) : nowWatched.get(deviceId)?.status
        if (liveness(device, now) !== last) await tell(device, now)
        watch(nowWatched, device, now)
      })
      await endOfTurn()
    }
    if (signal.aborted) return
    const gone = [...(before?.entries() ?? [])].filter(([deviceId]) => !nowWatched.has(deviceId))
    const statuses = new Map(gone)
    await forDevices([...statuses.keys()], async (device) => {
      const last = statuses.get(device.status.deviceId)?.status
      if (liveness(device, now) !== last) await tell(device, now)
    })
    watched = nowWatched
  }

  function watch(devices: Map<string, Watched> | undefined, device: Device, now: number): void {
    const { deviceId, lastSeenAt } = device.status
    const known = devices?.get(deviceId)
    if (known === undefined) return
    const { expectedIntervalSeconds } = known
    const changesAt = livenessLastsUntil({ lastSeenAt, expectedIntervalSeconds }, now) + 1
    devices?.set(deviceId, {
      expectedIntervalSeconds,
      status: liveness(device, now),
      readAgainAt: Math.min(changesAt, now + READ_AGAIN_MS),
    })
  }

  async function forDevices(
    deviceIds: readonly string[],
    work: (device: Device) => Promise<void>,
  ): Promise<void> {
    for (let start = 0; start < deviceIds.length && !signal.aborted; start += ASKED_AT_ONCE) {
      const some = deviceIds.slice(start, start + ASKED_AT_ONCE)
      for (const device of await store.findDevices({ accountId, deviceIds: some })) {
        await work(device)
      }
      await endOfTurn()
    }
  }

  async function tell(device: Device, now: number): Promise<void> {
    const { deviceId, applied, lastPosition, heartbeats = {} } = device.status
    const erased = feed.erasure({ accountId, deviceId })?.origin
    // Read before the store applied the erasure.
    if (erased !== undefined && !includes(applied, erased)) return
    const heard = Object.values(heartbeats).map(({ receivedAt }) => receivedAt)
    const telemetry = telemetryOf(device.status)
    const state = [
      ...[lastPosition.recordId, lastPosition.receivedAt, liveness(device, now)],
      ...[Math.max(0, ...heard), telemetry?.receivedAt],
    ].join(' ')
    if (signal.aborted || sent.get(deviceId) === state) return
    sent.set(deviceId, state)
    const text = eventFrame('device-status', JSON.stringify(deviceView(device, now)))
    feed.push({
      kind: 'aside',
      name: 'device-status',
      isErasable: true,
      accountId,
      deviceId,
      text,
    })
    pushed += 1
    if (pushed % PUSHED_AT_ONCE === 0) await pause(PUSH_PAUSE_MS)
  }
}

function isDue(known: Watched, { expectedIntervalSeconds }: DeviceInterval, now: number): boolean {
  return known.readAgainAt <= now || known.expectedIntervalSeconds !== expectedIntervalSeconds
}
