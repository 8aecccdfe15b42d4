import { expect } from '@jest/globals'
import type { EventLog, LogEntry } from '../../event-log/event-log.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import { encodeDeviceSeen, type DeviceSeen } from '../../schemas/events/device-seen.ts'
import { encodePositionReported } from '../../schemas/events/position-reported.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, deviceSeen, positionReported } from '../samples.ts'
import {
  aGroup,
  hex,
  isRising,
  NOW,
  sample,
  samples,
  SOON,
  startTail,
  type EventLogSuite,
} from './event-log-suite.ts'

/** Erasures and heartbeats: in order with the positions of their device, and counted like them. */
export function otherEventsContract(suite: EventLogSuite): void {
  otherEventContract(suite, {
    kind: 'an erasure',
    make: (deviceId, erasedAt) => deviceErased({ deviceId, erasedAt }),
    put: (log, event) => log.erase(event),
  })
  otherEventContract(suite, {
    kind: 'a heartbeat',
    make: (deviceId, receivedAt) =>
      deviceSeen({
        deviceId,
        receivedAt,
        battery: 0.42,
        attributes: { ignition: true, rpm: 800, note: 'Süd 🚜' },
      }),
    put: (log, event) => log.append([event]),
  })
  orderContract(suite)
  malformedContract(suite)
}

function otherEventContract<Event extends DeviceErased | DeviceSeen>(
  { promise }: EventLogSuite,
  {
    kind,
    make,
    put,
  }: {
    kind: string
    make: (deviceId: string, at: number) => Event
    put: (log: EventLog, event: Event) => Promise<void>
  },
): void {
  promise(`${kind} keeps its order among the positions of its device`, async (given) => {
    const { log, consume } = given
    const deviceId = 'Süd / 🚜 "$x"'
    const [first, second] = [sample(deviceId), sample(deviceId)]
    const [between, last] = [make(deviceId, NOW), make(deviceId, NOW + 1)]
    await Promise.all([log.append([first]), put(log, between), log.append([second])])
    await put(log, last)
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 4, SOON)
    const entries = reader.entries()
    expect(entries.map(eventOf)).toEqual([first, between, second, last])
    expect(new Set(entries.map(({ origin }) => origin.partition)).size).toBe(1)
    expect(isRising(entries.map(({ origin }) => origin.offset))).toBe(true)
  })

  promise(`${kind} alone is a batch, also for a tail`, async ({ log, consume }) => {
    const event = make('tracker-1', NOW)
    await put(log, event)
    const reader = consume(log)
    const tail = startTail(log, {})
    const tailed = () => tail.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
    await eventually(() => reader.entries().length > 0 && tailed().length > 0, SOON)
    expect(reader.entries().map(eventOf)).toEqual([event])
    expect(tailed()).toEqual(reader.entries())
    await tail.stop()
  })

  promise(`${kind} that was acknowledged is present after the log is reopened`, async (given) => {
    const { log, consume, opened } = given
    const queued = [make('tracker-1', NOW), make('tracker-2', NOW)]
    const writes = queued.map((event) => put(log, event))
    await Promise.all([log.close(), ...writes])
    const closed = { name: 'DependencyError', retriable: true }
    await expect(put(log, make('tracker-1', NOW))).rejects.toMatchObject(closed)
    const reader = consume(await opened.reopen())
    await eventually(() => reader.entries().length >= 2, SOON)
    expect(new Set(reader.entries().map(eventOf))).toEqual(new Set(queued))
  })

  promise(`${kind} counts as an event: lag, extent, its id`, async (given) => {
    const { log, consume, progressOf } = given
    const group = aGroup()
    await log.append([positionReported({ receivedAt: NOW - 30_000 })])
    const event = make('tracker-1', NOW - 10_000)
    await put(log, event)
    expect(await log.lag(group)).toEqual({ events: 2, seconds: 30 })
    const reader = consume(log, { group })
    const lag = async () => (await log.lag(group, progressOf(reader).resumeAfter)).events
    await eventually(async () => reader.entries().length === 2 && (await lag()) === 0, SOON)
    const { partition, offset } = reader.entries()[1]!.origin
    expect(await log.extent()).toContainEqual(
      expect.objectContaining({ partition, next: offset + 1 }),
    )
    expect(await log.eventIdsAt({ [partition]: offset })).toEqual(
      new Map([[partition, event.eventId]]),
    )
    await put(log, make('tracker-1', NOW - 10_000))
    await eventually(async () => reader.entries().length === 3 && (await lag()) === 0, SOON)
  })

  promise(`trimming removes ${kind} by its own time`, async ({ log, consume }) => {
    await log.append([positionReported({ receivedAt: NOW - 60_000 })])
    await put(log, make('tracker-1', NOW - 50_000))
    const event = make('tracker-1', NOW - 10_000)
    const position = positionReported({ receivedAt: NOW - 10_000 })
    await put(log, event)
    await log.append([position])
    await log.trim(NOW - 20_000)
    const reader = consume(log)
    await eventually(() => reader.entries().length > 1, SOON)
    expect(reader.entries().map(eventOf)).toEqual([event, position])
  })
}

function orderContract({ promise }: EventLogSuite): void {
  promise('all kinds keep their order under many concurrent appends', async ({ log, consume }) => {
    const appended: string[] = []
    const writes = Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 2) {
        const erasure = deviceErased()
        appended.push(erasure.eventId)
        return log.erase(erasure)
      }
      const events = index % 3 === 1 ? [sample(), deviceSeen(), sample()] : [sample()]
      appended.push(...events.map(eventIdOf))
      return log.append(events)
    })
    await Promise.all(writes)
    const reader = consume(log)
    await eventually(() => reader.entries().length >= appended.length, SOON)
    const ids = reader
      .entries()
      .map(eventOf)
      .map((event) => event && eventIdOf(event))
    expect(ids).toEqual(appended)
  })

  promise('a heartbeat that has waited in a spool is marked', async ({ consume, log, opened }) => {
    const [direct, spooled] = [deviceSeen(), deviceSeen()]
    await log.append([direct])
    await log.append([spooled, sample()], { spooled: true })
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 3, SOON)
    const marks = reader.entries().flatMap((entry) => (entry.kind === 'seen' ? [entry] : []))
    expect(marks.map((entry) => entry.spooled)).toEqual([opened.marksAll, true])
  })
}

function malformedContract({ promise }: EventLogSuite): void {
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
    const erasures = reader.entries().filter(({ kind }) => kind === 'erasure')
    expect(erasures.map(eventOf)).toMatchObject([
      { eventId: id, accountId: 'acc-1', deviceId: 'a/b' },
    ])
    expect(reader.events()).toHaveLength(1)
  })

  promise('an erasure that would be unreadable is not written', async ({ log, consume }) => {
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
    expect(reader.entries().map(eventOf)).toEqual([event])
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
    expect(reader.entries().map(eventOf)).toContainEqual(good)
    expect(reader.entries().filter(({ kind }) => kind === 'seen')).toHaveLength(1)
    expect(reader.entries().filter(({ kind }) => kind === 'unknown')).toHaveLength(1)
    expect(reader.events()).toHaveLength(1)
  })
}

function eventOf(entry: LogEntry) {
  return 'event' in entry ? entry.event : undefined
}
