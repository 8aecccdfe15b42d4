import { isDeepStrictEqual } from 'node:util'
import { expect } from '@jest/globals'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import type { DeviceSeen } from '../../schemas/events/device-seen.ts'
import type { ProjectionEntry } from '../../schemas/events/log-entry.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { compareOrigins } from '../../schemas/geo/position-order.ts'
import type { Origin, PositionRecord } from '../../schemas/devices/read-models.ts'
import { T0 } from '../samples.ts'
import type { Answer, Sent, World } from './world.ts'

export const DEVICES = ['tram', 'tug', 'van'] as const

/** A report that devices resend: the same fields give the same record. */
export type Report = { readonly device: number; readonly turn: number | 'heartbeat' }

/** The state of one device since its last erasure. */
type Device = {
  /** Reports that may be visible, and when each was sent. */
  readonly may: Map<string, Set<number>>
  /** Acknowledged reports, which must be visible once everything is projected. */
  readonly must: Set<string>
  /** Reports seen before, which must stay visible. */
  readonly stays: Set<string>
  /** When anything was sent, including heartbeats and repeats. */
  readonly heard: Set<number>
  /** Only a later name must stay: an erasure may remove an earlier one at any time. */
  erasing: number
  /** When it was last named, if its erasure was never requested. */
  named: number | undefined
  /** When it was named while an erasure in the log had not been projected yet. */
  readonly doomed: Set<number>
}

/** The responses that senders and operators have received and may rely on. */
export class Model {
  readonly devices: readonly Device[] = DEVICES.map(() => ({
    may: new Map(),
    must: new Set(),
    stays: new Set(),
    heard: new Set(),
    erasing: -Infinity,
    named: undefined,
    doomed: new Set(),
  }))
  /** The first recordId given to a report. */
  readonly #ids = new Map<string, string>()
  /** In the order of the commands: when a report was first sent, and first acknowledged. */
  readonly #firstSent = new Map<string, number>()
  readonly #firstAcknowledged = new Map<string, number>()
  readonly #acknowledgedHeartbeats = new Set<string>()
  #commands = 0

  sent(reports: readonly Report[], at: number): void {
    this.#commands += 1
    for (const report of reports) {
      const name = nameOf(report)
      const { may, heard } = this.devices[report.device]!
      heard.add(at)
      if (report.turn === 'heartbeat') continue
      may.set(name, (may.get(name) ?? new Set()).add(at))
      if (!this.#firstSent.has(name)) this.#firstSent.set(name, this.#commands)
    }
  }

  acknowledged(reports: readonly Report[], answers: readonly Answer[], at: number): void {
    expect(answers).toHaveLength(reports.length)
    this.#commands += 1
    reports.forEach((report, index) => {
      const name = nameOf(report)
      const answer = answers[index]!
      expectSame(answer.kind, report.turn === 'heartbeat' ? 'seen' : 'accepted')
      if (answer.kind === 'seen') {
        this.#acknowledgedHeartbeats.add(`${DEVICES[report.device]} ${at}`)
        return
      }
      const { recordId } = answer
      const known = this.#ids.get(name) ?? recordId
      expectSame({ name, recordId }, { name, recordId: known })
      this.#ids.set(name, known)
      this.devices[report.device]!.must.add(name)
      if (!this.#firstAcknowledged.has(name)) this.#firstAcknowledged.set(name, this.#commands)
    })
  }

  /** An operator requests it; its confirmation is recorded later. */
  erasing(number: number, at: number): void {
    const device = this.devices[number]!
    device.must.clear()
    device.stays.clear()
    device.erasing = at
    device.named = undefined
  }

  /** An operator named the device after this time. */
  named(number: number, at: number): void {
    const device = this.devices[number]!
    if (device.erasing === -Infinity) device.named = at
  }

  erased(device: number): void {
    this.devices[device]!.may.clear()
  }

  doomed(device: number, at: number): void {
    this.devices[device]!.doomed.add(at)
  }

  /** Only projected entries may be visible; with `all`, all have been projected. */
  async check(world: World, { all }: { all: boolean }): Promise<void> {
    for (const [number, deviceId] of DEVICES.entries()) {
      const { may, must, stays, heard, erasing } = this.devices[number]!
      const { status, records } = await world.device(deviceId)
      const seen = new Set<string>()
      for (const { timestamp, receivedAt, recordId, battery } of records) {
        const name = nameOf({ device: number, turn: turnOf(timestamp) })
        seen.add(name)
        const sent = may.get(name)?.has(receivedAt) ?? false
        expectSame(
          { name, sent, recordId, battery },
          {
            name,
            sent: true,
            recordId: this.#ids.get(name) ?? recordId,
            battery: batteryAt(receivedAt),
          },
        )
      }
      expectSame(seen.size, records.length)
      if (all) expectAll(must, seen)
      const lasting = records.filter(({ receivedAt }) => receivedAt > erasing)
      const found = new Set(lasting.map(({ recordId, receivedAt }) => `${recordId} ${receivedAt}`))
      expectAll(stays, found)
      for (const record of found) stays.add(record)
      const times = records.map(({ receivedAt }) => receivedAt)
      const last = [...records].sort(byPlace).at(-1)
      const byRecords = Math.max(...times)
      const seenAt = status?.lastSeenAt ?? 0
      const isHeard = seenAt > byRecords && heard.has(seenAt)
      expectSame(
        status && {
          reportCount: status.reportCount,
          firstSeenAt: status.firstSeenAt,
          lastSeenAt: status.lastSeenAt,
          last: status.lastPosition.recordId,
        },
        last && {
          reportCount: records.length,
          firstSeenAt: Math.min(...times),
          lastSeenAt: isHeard ? seenAt : byRecords,
          last: last.recordId,
        },
      )
    }
  }

  /**
   * Once all is projected, no heartbeat is lost, and the last-seen times and batteries match the
   * log's fold.
   */
  async checkSeen(world: World): Promise<void> {
    const logged = await world.logged()
    const heartbeats = logged.flatMap(({ kind, event }) =>
      kind === 'seen' ? [`${event.deviceId} ${event.receivedAt}`] : [],
    )
    expectAll(this.#acknowledgedHeartbeats, new Set(heartbeats))
    const folded = lastSeen(logged)
    for (const deviceId of DEVICES) {
      const { status } = await world.device(deviceId)
      const seen = status && { lastSeenAt: status.lastSeenAt, telemetry: telemetryOf(status) }
      expectSame(seen, folded.get(deviceId))
    }
  }

  /** Once all is projected, no name outlives an erasure in the log, confirmed or not. */
  async checkNames(world: World): Promise<void> {
    const logged = await world.logged()
    for (const [number, deviceId] of DEVICES.entries()) {
      const { settings } = await world.device(deviceId)
      if (settings === undefined) continue
      const erasures = logged.filter(
        ({ kind, event }) => kind === 'erasure' && event.deviceId === deviceId,
      )
      const times = erasures.map(({ event }) => ('erasedAt' in event ? event.erasedAt : 0))
      const { named, doomed } = this.devices[number]!
      const name = Number(settings.name ?? Infinity)
      const isLater = name > Math.max(0, ...times) && !doomed.has(name)
      // A name whose response was lost may have been set even later.
      const stays = named === undefined || (settings.name !== undefined && name >= named)
      expectSame({ name, isLater, stays }, { name, isLater: true, stays: true })
    }
  }

  /** A report acknowledged before another of the same device was first sent precedes it. */
  checkOrder(logged: readonly ProjectionEntry[]): void {
    const first = new Map<string, number>()
    for (const { kind, event, origin } of logged) {
      if (kind !== 'position') continue
      const device = DEVICES.findIndex((deviceId) => deviceId === event.deviceId)
      const name = nameOf({ device, turn: turnOf(event.timestamp) })
      if (!first.has(name)) first.set(name, origin.offset)
    }
    for (const [before, acknowledged] of this.#firstAcknowledged) {
      for (const [after, sent] of this.#firstSent) {
        if (before[0] !== after[0] || acknowledged >= sent) continue
        const order = {
          before,
          after,
          stands: (first.get(before) ?? 0) <= (first.get(after) ?? Infinity),
        }
        expectSame(order, { before, after, stands: true })
      }
    }
  }
}

/** `expect` takes longer than all the checks, so it is called only to describe a failure. */
function expectSame<T>(found: T, wanted: T): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted)
}

function expectAll(wanted: ReadonlySet<string>, found: ReadonlySet<string>): void {
  const missing = [...wanted].filter((one) => !found.has(one))
  if (missing.length > 0) expect([...found]).toEqual(expect.arrayContaining(missing))
}

type Signs = {
  readonly records: Map<string, PositionRecord>
  readonly repeats: PositionReported[]
  readonly heartbeats: DeviceSeen[]
}

/** As simple as possible, and independent of the code under test. */
function lastSeen(logged: readonly ProjectionEntry[]) {
  const devices = new Map<string, Signs>()
  const erasures = new Map<string, number>()
  const applied = new Set<string>()
  for (const entry of logged) {
    const { deviceId } = entry.event
    if (entry.kind === 'erasure') {
      if (applied.has(entry.event.eventId)) continue
      applied.add(entry.event.eventId)
      devices.delete(deviceId)
      erasures.set(deviceId, Math.max(erasures.get(deviceId) ?? 0, entry.event.erasedAt))
      continue
    }
    const { receivedAt } = entry.event
    if (entry.spooled && receivedAt <= (erasures.get(deviceId) ?? 0)) continue
    const known = devices.get(deviceId)
    if (entry.kind === 'seen') known?.heartbeats.push(entry.event)
    else if (known?.records.has(entry.event.recordId)) known.repeats.push(entry.event)
    else {
      const signs = known ?? { records: new Map(), repeats: [], heartbeats: [] }
      devices.set(deviceId, signs)
      signs.records.set(entry.event.recordId, { ...entry.event, origin: entry.origin })
    }
  }
  return new Map([...devices].map(([deviceId, signs]) => [deviceId, seenBy(signs)]))
}

function seenBy({ records, repeats, heartbeats }: Signs) {
  const all = [...records.values(), ...repeats, ...heartbeats]
  const last = [...records.values()].sort(byPlace).at(-1)!
  const repeatsOfLast = repeats.filter(({ recordId }) => recordId === last.recordId)
  const newest = [last, ...repeatsOfLast, ...heartbeats].sort(byReceipt).at(-1)!
  const { receivedAt } = newest
  return {
    lastSeenAt: Math.max(...all.map(({ receivedAt }) => receivedAt)),
    telemetry:
      byReceipt(newest, last) > 0 ? { receivedAt, battery: batteryAt(receivedAt) } : undefined,
  }
}

function byReceipt(a: PositionReported | DeviceSeen, b: typeof a): number {
  if (a.receivedAt !== b.receivedAt) return a.receivedAt - b.receivedAt
  const [idOfA, idOfB] = [eventIdOf(a), eventIdOf(b)]
  return idOfA === idOfB ? 0 : idOfA > idOfB ? 1 : -1
}

export function toSent({ device, turn }: Report, at: number): Sent {
  const battery = batteryAt(at)
  if (turn === 'heartbeat') return { seen: DEVICES[device]!, battery }
  return { deviceId: DEVICES[device]!, timestamp: T0 + turn * 1000, latitude: turn, battery }
}

/** A different one each time. */
function batteryAt(time: number): number {
  return (time % 1000) / 1000
}

function turnOf(timestamp: number): number {
  return (timestamp - T0) / 1000
}

function nameOf({ device, turn }: Report): string {
  return `${device} ${turn}`
}

function byPlace(
  a: { timestamp: number; receivedAt: number; origin: Origin },
  b: typeof a,
): number {
  const rank = ({ timestamp, receivedAt }: typeof a) => Math.min(timestamp, receivedAt)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (a.receivedAt !== b.receivedAt) return a.receivedAt - b.receivedAt
  return compareOrigins(a.origin, b.origin)
}
