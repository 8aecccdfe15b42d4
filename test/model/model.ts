import { isDeepStrictEqual } from 'node:util'
import { expect } from '@jest/globals'
import type { PositionEntry } from '../../event-log/event-log.ts'
import { T0 } from '../samples.ts'
import type { Answer, Sent, World } from './world.ts'

export const DEVICES = ['tram', 'tug', 'van'] as const

/** A report that devices send again and again: the same fields make the same record. */
export type Report = { readonly device: number; readonly turn: number }

/** What is known of one device since it was last erased. */
type Device = {
  /** What may be seen: each report, and when it was sent. */
  readonly may: Map<string, Set<number>>
  /** What was acknowledged, and so must be seen once all is projected. */
  readonly must: Set<string>
  /** What has been seen, and so must be seen from then on. */
  readonly stays: Set<string>
  /** Only what was received later stays: what came before may go with an erasure at any time. */
  erasing: number
}

/** What senders and operators have been told, and so may rely on. */
export class Model {
  readonly devices: readonly Device[] = DEVICES.map(() => ({
    may: new Map(),
    must: new Set(),
    stays: new Set(),
    erasing: -Infinity,
  }))
  /** The recordId that a report was given first. */
  readonly #ids = new Map<string, string>()
  /** In the order of the commands: when a report was first sent, and first acknowledged. */
  readonly #firstSent = new Map<string, number>()
  readonly #firstAcknowledged = new Map<string, number>()
  #commands = 0

  sent(reports: readonly Report[], at: number): void {
    this.#commands += 1
    for (const report of reports) {
      const name = nameOf(report)
      const { may } = this.devices[report.device]!
      may.set(name, (may.get(name) ?? new Set()).add(at))
      if (!this.#firstSent.has(name)) this.#firstSent.set(name, this.#commands)
    }
  }

  acknowledged(reports: readonly Report[], answers: readonly Answer[]): void {
    expect(answers).toHaveLength(reports.length)
    this.#commands += 1
    reports.forEach((report, index) => {
      const name = nameOf(report)
      const { recordId } = answers[index]!
      const known = this.#ids.get(name) ?? recordId
      expectSame({ name, recordId }, { name, recordId: known })
      this.#ids.set(name, known)
      this.devices[report.device]!.must.add(name)
      if (!this.#firstAcknowledged.has(name)) this.#firstAcknowledged.set(name, this.#commands)
    })
  }

  /** An operator asks for it; whether it was answered comes later. */
  erasing(number: number, at: number): void {
    const device = this.devices[number]!
    device.must.clear()
    device.stays.clear()
    device.erasing = at
  }

  erased(device: number): void {
    this.devices[device]!.may.clear()
  }

  /** Whatever has been projected by now, nothing else may be seen; `all`: everything has been. */
  async check(world: World, { all }: { all: boolean }): Promise<void> {
    for (const [number, deviceId] of DEVICES.entries()) {
      const { may, must, stays, erasing } = this.devices[number]!
      const { status, records } = await world.device(deviceId)
      const seen = new Set<string>()
      for (const { timestamp, receivedAt, recordId } of records) {
        const name = nameOf({ device: number, turn: turnOf(timestamp) })
        seen.add(name)
        const sent = may.get(name)?.has(receivedAt) ?? false
        expectSame(
          { name, sent, recordId },
          { name, sent: true, recordId: this.#ids.get(name) ?? recordId },
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
          lastSeenAt: Math.max(...times),
          last: last.recordId,
        },
      )
    }
  }

  /** What was acknowledged before something of the same device was first sent stands before it. */
  checkOrder(logged: readonly PositionEntry[]): void {
    const first = new Map<string, number>()
    for (const { event, origin } of logged) {
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

/** `expect` takes longer than all that is checked: it is asked only to say what is wrong. */
function expectSame<T>(found: T, wanted: T): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted)
}

function expectAll(wanted: ReadonlySet<string>, found: ReadonlySet<string>): void {
  const missing = [...wanted].filter((one) => !found.has(one))
  if (missing.length > 0) expect([...found]).toEqual(expect.arrayContaining(missing))
}

export function toSent({ device, turn }: Report): Sent {
  return { deviceId: DEVICES[device]!, timestamp: T0 + turn * 1000, latitude: turn }
}

function turnOf(timestamp: number): number {
  return (timestamp - T0) / 1000
}

function nameOf({ device, turn }: Report): string {
  return `${device} ${turn}`
}

function byPlace(
  a: { timestamp: number; receivedAt: number; recordId: string },
  b: typeof a,
): number {
  const rank = ({ timestamp, receivedAt }: typeof a) => Math.min(timestamp, receivedAt)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (a.receivedAt !== b.receivedAt) return a.receivedAt - b.receivedAt
  return a.recordId < b.recordId ? -1 : 1
}
