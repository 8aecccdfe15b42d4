import { expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { factsWorld } from './facts-world.ts'

const clock = { time: T0, now: () => clock.time }
let world: ReturnType<typeof factsWorld>
let opened: Parameters<Parameters<typeof logAndStoreForEachTest>[0]>[0]

logAndStoreForEachTest((given) => {
  opened = given
  clock.time = T0
  world = factsWorld({ ...opened, clock, graceMs: 600_000 })
})

async function heardSince(): Promise<number> {
  await world.hearing.look()
  return world.hearing.current().since
}

test('no reports can arrive before an ingest API is ready', async () => {
  expect(world.hearing.current().since).toBe(Infinity)
  expect(await heardSince()).toBe(Infinity)
  await world.ingestReports({ readySince: -1 })
  expect(await heardSince()).toBe(Infinity)
})

test('reports can arrive from the moment the ingest API is ready', async () => {
  await world.ingestReports({ readySince: T0 - 5_000 })
  expect(await heardSince()).toBe(T0 - 5_000)
  expect(world.hearing.current().graceMs).toBe(600_000)
})

test('silences are not judged until reports could arrive for long enough', async () => {
  await world.hearing.look()
  expect(world.hearing.heldSince()).toBe(T0)
  while (clock.time < T0 + 600_000) {
    expect(world.hearing.heldSince()).toBe(T0)
    clock.time += 10_000
    await world.ingestReports({ readySince: T0 })
    await world.hearing.look()
  }
  expect(world.hearing.heldSince()).toBeUndefined()
  clock.time += 20_000
  await world.hearing.look()
  expect(world.hearing.heldSince()).toBe(clock.time)
})

test('an ingest API that has not reported for 15 seconds does not count as ready', async () => {
  await world.ingestReports()
  clock.time += 15_000
  expect(await heardSince()).toBe(0)
  clock.time += 1
  expect(await heardSince()).toBe(Infinity)
})

test('a non-empty spool defers silences until it is reported empty or its events are too old', async () => {
  await world.ingestReports({ spool: { id: 'spool-1', events: 3 } })
  expect(await heardSince()).toBe(Infinity)
  await world.ingestReports({ spool: { id: 'spool-2', events: 0 } })
  expect(await heardSince()).toBe(Infinity)
  await world.ingestReports({ spool: { id: 'spool-1', events: 0 } })
  expect(await heardSince()).toBe(0)
  await world.ingestReports({ spool: { id: 'spool-1', events: 1 } })
  for (let waited = 0; waited <= 86_400_000; waited += 20_000) {
    clock.time = T0 + waited
  }
  await world.hearing.look()
  clock.time += 1
  await world.ingestReports()
  expect(await heardSince()).toBeLessThan(Infinity)
})

test('a sweep that comes more than 30 s late means that the machine slept', async () => {
  await world.ingestReports()
  await world.hearing.look()
  clock.time += 30_001
  // Even before the next sweep: an entry may be judged first.
  expect(world.hearing.current().since).toBe(clock.time)
  await world.ingestReports()
  expect(await heardSince()).toBe(clock.time)
})

test('after a restart, an instance that has ended does not count as ready for the time between', async () => {
  await world.ingestReports({ readySince: T0 - 3_600_000 })
  clock.time += 11_000
  await world.ingestReports({ instanceId: 'next', readySince: clock.time })
  expect(await heardSince()).toBe(clock.time)
})

test('an instance that starts beside another interrupts nothing', async () => {
  await world.ingestReports({ readySince: T0 - 3_600_000 })
  clock.time += 5_000
  await world.ingestReports({ instanceId: 'next', readySince: clock.time })
  clock.time += 5_000
  await world.ingestReports({ readySince: T0 - 3_600_000 })
  expect(await heardSince()).toBe(T0 - 3_600_000)
})

test('the embedded process receives nothing before its ingest API has reported', async () => {
  await world.ingestReports({ readySince: T0 - 3_600_000 })
  clock.time += 11_000
  world = factsWorld({ ...opened, clock, isEmbedded: true })
  expect(await heardSince()).toBe(Infinity)
  await world.ingestReports({ instanceId: 'next', readySince: clock.time })
  expect(await heardSince()).toBe(clock.time)
})
