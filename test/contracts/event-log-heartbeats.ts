import { expect } from '@jest/globals'
import type { LogEntry, SeenEntry } from '../../event-log/event-log.ts'
import { eventIdOf } from '../../schemas/appended-event.ts'
import { encodeDeviceSeen, type DeviceSeen } from '../../schemas/device-seen.ts'
import { encodePositionReported } from '../../schemas/position-reported.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, deviceSeen, positionReported } from '../samples.ts'
import { aGroup, hex, NOW, sample, samples, SOON, type EventLogSuite } from './event-log-suite.ts'

/**
 * A device reported without a position: an event among its positions, counted like them in all
 * figures.
 */
export function heartbeatsContract({ promise }: EventLogSuite): void {
  promise('a heartbeat stands among the positions of its device as appended', async (given) => {
    const { log, consume } = given
    const deviceId = 'Süd / 🚜 "$x"'
    const [first, second] = [sample(deviceId), sample(deviceId)]
    const [heartbeat, last] = [deviceSeen({ deviceId }), deviceSeen({ deviceId })]
    const erasure = deviceErased({ deviceId })
    await Promise.all([log.append([first, heartbeat, second]), log.erase(erasure)])
    await log.append([last])
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 5, SOON)
    const entries = reader.entries()
    const appended = [first, heartbeat, second, erasure, last]
    expect(entries.map(id)).toEqual(appended.map(eventIdOf))
    expect(heartbeats(entries)).toEqual([heartbeat, last])
    expect(new Set(entries.map(({ origin }) => origin.partition)).size).toBe(1)
  })

  promise(
    'a heartbeat that has waited in a spool is told to be so',
    async ({ consume, log, opened }) => {
      const [direct, spooled] = [deviceSeen(), deviceSeen()]
      await log.append([direct])
      await log.append([spooled, sample()], { spooled: true })
      const reader = consume(log)
      await eventually(() => reader.entries().length >= 3, SOON)
      const marks = reader.entries().filter(isSeen)
      expect(marks.map((entry) => entry.spooled)).toEqual([opened.marksAll, true])
    },
  )

  promise(
    'what was acknowledged of a device is there after the log is opened again',
    async (given) => {
      const { log, consume, opened } = given
      const queued = [deviceSeen(), deviceSeen({ deviceId: 'tracker-2' })]
      const writes = queued.map((heartbeat) => log.append([heartbeat]))
      await Promise.all([log.close(), ...writes])
      const reader = consume(await opened.reopen())
      await eventually(() => reader.entries().length >= 2, SOON)
      expect(new Set(heartbeats(reader.entries()))).toEqual(new Set(queued))
    },
  )

  promise('a heartbeat counts as an event: lag, extent, its id', async (given) => {
    const { log, consume, progressOf } = given
    const group = aGroup()
    await log.append([positionReported({ receivedAt: NOW - 30_000 })])
    const heartbeat = deviceSeen({ receivedAt: NOW - 10_000 })
    await log.append([heartbeat])
    expect(await log.lag(group)).toEqual({ events: 2, seconds: 30 })
    const reader = consume(log, { group })
    const lag = async () => (await log.lag(group, progressOf(reader).resumeAfter)).events
    await eventually(async () => reader.entries().length === 2 && (await lag()) === 0, SOON)
    const { partition, offset } = reader.entries()[1]!.origin
    expect(await log.extent()).toContainEqual(
      expect.objectContaining({ partition, next: offset + 1 }),
    )
    expect(await log.eventIdsAt({ [partition]: offset })).toEqual(
      new Map([[partition, heartbeat.eventId]]),
    )
  })

  promise('trimming takes a heartbeat by the time at which it was received', async (given) => {
    const { log, consume } = given
    const kept = deviceSeen({ receivedAt: NOW - 10_000 })
    await log.append([deviceSeen({ receivedAt: NOW - 60_000 }), kept])
    await log.trim(NOW - 20_000)
    const reader = consume(log)
    await eventually(() => reader.entries().length > 0, SOON)
    expect(heartbeats(reader.entries())).toEqual([kept])
  })

  promise('a heartbeat that is malformed is unreadable, and blocks nothing', async (given) => {
    const { log, opened, consume } = given
    const good = deviceSeen()
    const { eventId } = good
    const value = (changes: object) =>
      Buffer.from(JSON.stringify({ ...(JSON.parse(encodeDeviceSeen(good)) as object), ...changes }))
    const malformed: [value: Buffer | null, id: string][] = [
      [null, eventId],
      [Buffer.from('{'), eventId],
      [Buffer.from([0]), eventId],
      [value({ accountId: 'acc/1' }), eventId],
      [value({ deviceId: '' }), eventId],
      [value({ keyId: undefined }), eventId],
      [value({ receivedAt: 'yesterday' }), eventId],
      [value({}), 'no-ulid'],
    ]
    for (const [bytes, id] of malformed) {
      await opened.putRaw(bytes, 'acc-1/tracker-1', { type: 'DeviceSeen.v1', id })
    }
    // The type decides how a value is read.
    await opened.putRaw(value({}), 'acc-1/tracker-1')
    await opened.putRaw(value({ more: 1 }), 'acc-1/tracker-1', {
      type: 'DeviceSeen.v1',
      id: eventId,
    })
    const position = Buffer.from(encodePositionReported(sample()))
    await opened.putRaw(position, 'acc-1/tracker-1', { type: 'DeviceSeen.v2', id: eventId })
    await log.append(samples(1))

    const reader = consume(log)
    await eventually(() => reader.entries().length >= malformed.length + 4, SOON)
    const unreadable = reader.entries().flatMap((one) => (one.kind === 'unreadable' ? [one] : []))
    expect(unreadable.map((entry) => hex(entry.value))).toEqual([
      ...malformed.map(([bytes]) => hex(bytes)),
      hex(value({})),
    ])
    expect(unreadable.every(({ reason }) => /\w/.test(reason))).toBe(true)
    expect(heartbeats(reader.entries())).toEqual([good])
    expect(reader.entries().filter(({ kind }) => kind === 'unknown')).toHaveLength(1)
    expect(reader.events()).toHaveLength(1)
  })
}

function isSeen(entry: LogEntry): entry is SeenEntry {
  return entry.kind === 'seen'
}

function heartbeats(entries: readonly LogEntry[]): DeviceSeen[] {
  return entries.filter(isSeen).map(({ event }) => event)
}

function id(entry: LogEntry): string | undefined {
  return 'event' in entry ? eventIdOf(entry.event) : undefined
}
