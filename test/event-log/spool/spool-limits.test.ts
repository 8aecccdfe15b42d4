import { expect, test } from '@jest/globals'
import { eventIdOf } from '../../../schemas/events/appended-event.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { samples } from '../../contracts/event-log-suite.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { spoolForEachTest, type SpoolHarness } from './harness.ts'

let harness: SpoolHarness
spoolForEachTest((opened) => (harness = opened))

async function drained(spool: ReturnType<SpoolHarness['open']>): Promise<void> {
  await eventually(() => spool.depth().events === 0)
}

test('a spool rejects events beyond its byte limit, drops nothing, and accepts again when there is room', async () => {
  const events = samples(4)
  const spool = harness.open({ maxBytes: sizeOf(events.slice(0, 3)) })
  harness.becomes('down')
  for (const event of events.slice(0, 3)) await spool.append([event])
  const full = { name: 'DependencyError', retriable: true, message: 'the spool is full' }
  await expect(spool.append(events.slice(3))).rejects.toMatchObject(full)
  expect(spool.depth()).toMatchObject({ events: 3, bytes: sizeOf(events.slice(0, 3)) })
  harness.becomes('up')
  await drained(spool)
  await spool.append(events.slice(3))
  expect((await harness.entries()).map(({ event }) => eventIdOf(event))).toEqual(
    events.map(({ recordId }) => recordId),
  )
})

test('a spool counts pending writes against its limit, too', async () => {
  const events = samples(10)
  const spool = harness.open({ maxBytes: sizeOf(events.slice(0, 3)) })
  harness.becomes('down')
  const outcomes = await Promise.allSettled(events.map((event) => spool.append([event])))
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 3 }, () => 'fulfilled'),
    ...Array.from({ length: 7 }, () => 'rejected'),
  ])
})

test('a spool rejects new events once the oldest is too old', async () => {
  const spool = harness.open({ maxAgeSeconds: 60 })
  harness.becomes('down')
  harness.clock.time = T0 + 60_000
  const old = positionReported({ receivedAt: T0 })
  await spool.append([old])
  await spool.append([positionReported()])
  harness.clock.time = T0 + 60_001
  await expect(spool.append([positionReported()])).rejects.toThrow('the spool is full')
  expect(spool.depth()).toMatchObject({ events: 2, oldestSeconds: 60.001 })
  harness.becomes('up')
  await drained(spool)
  expect(await harness.entries()).toHaveLength(2)
})

test('a spool is ready without the log, up to nine tenths of either limit', async () => {
  const events = samples(10)
  const spool = harness.open({ maxBytes: sizeOf(events), maxAgeSeconds: 1000 })
  await spool.ready()
  harness.becomes('down')
  await spool.ready()
  const nearlyFull = { message: 'the spool is nearly full', retriable: true }
  await spool.append(events.slice(0, 9))
  harness.clock.time = events[0]!.receivedAt + 900_000
  await spool.ready()
  harness.clock.time += 1
  await expect(spool.ready()).rejects.toMatchObject(nearlyFull)
  harness.clock.time -= 1
  await spool.append(events.slice(9))
  await expect(spool.ready()).rejects.toMatchObject(nearlyFull)
  harness.becomes('up')
  await drained(spool)
  await spool.ready()
})

/** In the spool an event is its JSON. */
function sizeOf(events: readonly PositionReported[]): number {
  return events.reduce((bytes, event) => {
    const { timestamp, receivedAt } = event
    const times = { timestamp: new Date(timestamp), receivedAt: new Date(receivedAt) }
    return bytes + JSON.stringify({ ...event, ...times }).length
  }, 0)
}
