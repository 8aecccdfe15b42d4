import { expect } from '@jest/globals'
import type { LogEntry } from '../../event-log/event-log.ts'
import type { DeviceErased } from '../../schemas/device-erased.ts'
import { encodePositionReported } from '../../schemas/position-reported.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'
import {
  aGroup,
  hex,
  isRising,
  NOW,
  recordId,
  sample,
  samples,
  SOON,
  startTail,
  type EventLogSuite,
} from './event-log-suite.ts'

/** A device that was erased: in order with its positions, and an event like them in all figures. */
export function erasuresContract({ promise }: EventLogSuite): void {
  promise('an erasure stands among the positions of its device as appended', async (given) => {
    const { log, consume } = given
    const deviceId = 'Süd / 🚜 "$x"'
    const [first, second] = [sample(deviceId), sample(deviceId)]
    const erasure = deviceErased({ deviceId, erasedAt: T0 + 1 })
    await Promise.all([log.append([first]), log.erase(erasure), log.append([second])])
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 3, SOON)
    const entries = reader.entries()
    expect(entries.map(name)).toEqual([first.recordId, erasure.eventId, second.recordId])
    expect(erasures(entries)).toEqual([erasure])
    expect(new Set(entries.map(({ origin }) => origin.partition)).size).toBe(1)
    expect(isRising(entries.map(({ origin }) => origin.offset))).toBe(true)
  })

  promise('erasures keep their places under many concurrent appends', async ({ log, consume }) => {
    const appended: string[] = []
    const writes = Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 2) {
        const erasure = deviceErased()
        appended.push(erasure.eventId)
        return log.erase(erasure)
      }
      const event = sample()
      appended.push(event.recordId)
      return log.append([event])
    })
    await Promise.all(writes)
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 60, SOON)
    expect(reader.entries().map(name)).toEqual(appended)
  })

  promise('an erasure alone is a batch, also for a tail', async ({ log, consume }) => {
    const erasure = deviceErased()
    await log.erase(erasure)
    const reader = consume(log)
    const tail = startTail(log, {})
    const tailed = () => tail.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
    await eventually(() => reader.entries().length > 0 && tailed().length > 0, SOON)
    expect(erasures(reader.entries())).toEqual([erasure])
    expect(tailed()).toEqual(reader.entries())
    await tail.stop()
  })

  promise(
    'what was acknowledged as erased is there after the log is opened again',
    async (given) => {
      const { log, consume, opened } = given
      const queued = [deviceErased(), deviceErased({ deviceId: 'tracker-2' })]
      const writes = queued.map((erasure) => log.erase(erasure))
      await Promise.all([log.close(), ...writes])
      const closed = { name: 'DependencyError', retriable: true }
      await expect(log.erase(deviceErased())).rejects.toMatchObject(closed)
      const reader = consume(await opened.reopen())
      await eventually(() => reader.entries().length >= 2, SOON)
      expect(new Set(erasures(reader.entries()))).toEqual(new Set(queued))
    },
  )

  promise('an erasure counts as an event: lag, extent, what is committed', async (given) => {
    const { log, opened, consume, progressOf } = given
    const group = aGroup()
    await log.append([positionReported({ receivedAt: NOW - 30_000 })])
    await log.erase(deviceErased({ erasedAt: NOW - 10_000 }))
    expect(await log.lag(group)).toEqual({ events: 2, seconds: 30 })
    const reader = consume(log, { group })
    const lag = async () => (await log.lag(group, progressOf(reader).resumeAfter)).events
    await eventually(async () => reader.entries().length === 2 && (await lag()) === 0, SOON)
    const { partition, offset } = reader.entries()[1]!.origin
    expect(await log.committed(group)).toEqual(opened.keepsOffsets ? { [partition]: offset } : {})
    expect(await log.extent()).toContainEqual(
      expect.objectContaining({ partition, next: offset + 1 }),
    )
    await log.erase(deviceErased({ erasedAt: NOW - 10_000 }))
    await eventually(async () => reader.entries().length === 3 && (await lag()) === 0, SOON)
  })

  promise('trimming takes an erasure by the time at which it was asked for', async (given) => {
    const { log, consume } = given
    const kept = positionReported({ receivedAt: NOW - 10_000 })
    await log.append([positionReported({ receivedAt: NOW - 60_000 })])
    await log.erase(deviceErased({ erasedAt: NOW - 50_000 }))
    await log.append([kept])
    await log.trim(NOW - 20_000)
    const reader = consume(log)
    await eventually(() => reader.entries().length > 0, SOON)
    expect(reader.entries().map(name)).toEqual([kept.recordId])
  })

  promise('an erasure that is malformed is unreadable, and blocks nothing', async (given) => {
    const { log, opened, consume } = given
    const type = 'DeviceErased.v1'
    const { eventId: id } = deviceErased()
    const malformed: [value: Buffer | null, key: string, id: string][] = [
      [null, 'tracker-1', id],
      [null, '/tracker-1', id],
      [null, 'acc-1/', id],
      [null, 'acc-1/tracker-1', '1'],
      [null, 'acc-1/tracker-1', id.toLowerCase()],
      [Buffer.from('{}'), 'acc-1/tracker-1', id],
      [Buffer.from(encodePositionReported(sample())), 'acc-1/tracker-1', id],
    ]
    for (const [value, key, ceId] of malformed) await opened.putRaw(value, key, { type, id: ceId })
    await opened.putRaw(null, 'acc-1/tracker-1')
    await opened.putRaw(null, 'acc-1/a/b', { type, id })
    await log.append(samples(1))

    const reader = consume(log)
    await eventually(() => reader.entries().length >= malformed.length + 3, SOON)
    const unreadable = reader.entries().flatMap((one) => (one.kind === 'unreadable' ? [one] : []))
    const found = unreadable.map(({ key, value }) => `${hex(key)} ${hex(value)}`)
    const expected = malformed.map(([value, key]) => `${hex(Buffer.from(key))} ${hex(value)}`)
    expected.push(`${hex(Buffer.from('acc-1/tracker-1'))} ${hex(null)}`)
    expect(found.sort()).toEqual(expected.sort())
    expect(unreadable.every(({ reason }) => /\w/.test(reason))).toBe(true)
    expect(erasures(reader.entries())).toMatchObject([
      { eventId: id, accountId: 'acc-1', deviceId: 'a/b' },
    ])
    expect(reader.events()).toHaveLength(1)
  })

  promise('an erasure that nobody could read back is not written', async ({ log, consume }) => {
    for (const changes of [
      { eventId: '' },
      { eventId: 'erasure-1' },
      { accountId: 'acc/1' },
      { accountId: '' },
      { deviceId: '' },
      { erasedAt: NaN },
    ]) {
      const refused = { name: 'UndecodableEventError' }
      await expect(log.erase(deviceErased(changes))).rejects.toMatchObject(refused)
    }
    const event = sample()
    await log.append([event])
    const reader = consume(log)
    await eventually(() => reader.entries().length > 0, SOON)
    expect(reader.entries().map(name)).toEqual([event.recordId])
  })
}

function erasures(entries: readonly LogEntry[]): DeviceErased[] {
  return entries.flatMap((entry) => (entry.kind === 'erasure' ? [entry.event] : []))
}

/** A name that distinguishes one entry from another. */
function name(entry: LogEntry): string | undefined {
  return entry.kind === 'erasure' ? entry.event.eventId : recordId(entry)
}
