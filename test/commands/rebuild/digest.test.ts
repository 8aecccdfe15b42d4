import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { digestsOf } from '../../../commands/rebuild/digest.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Generation, Rebuild } from '../../../store/generations.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../../samples.ts'

const HOUR_MS = 3_600_000

const directory = directoryForEachTest()
let store: Store
let log: LogOfOneSuite
let rebuild: Rebuild | undefined
let before: Generation
let after: Generation

beforeEach(async () => {
  store = openSqliteStore({ directory: directory() })
  log = new LogOfOneSuite()
  rebuild = await store.beginRebuild()
  before = await store.openGeneration(1)
  after = await store.openGeneration(2)
})

afterEach(async () => {
  await before.close()
  await after.close()
  await rebuild?.end()
  await store.close()
})

const report = (deviceId: string) => log.append(positionReported({ deviceId }))
const erasure = (deviceId: string) => log.erase(deviceErased({ deviceId }))

async function project(generation: Generation, entries: readonly ProjectionEntry[]): Promise<void> {
  const [first, ...rest] = entries
  if (first !== undefined) await generation.project(batchOf(first, ...rest))
}

/** The last log entry to compare. */
async function compare(
  last: ProjectionEntry | undefined,
  generations: { before: Generation; after: Generation } = { before, after },
) {
  const upTo = { 0: last?.origin.offset ?? -1 }
  const cover = { upTo, receivedSince: -Infinity, partial: false }
  const digests = await digestsOf(generations, cover, new AbortController().signal)
  const { records, devices } = digests.after
  const equal = JSON.stringify(digests.before) === JSON.stringify(digests.after)
  return { equal, records: records.count, devices: devices.count }
}

test.each([
  ['only the old one', true, false],
  ['only the new one', false, true],
  ['both', true, true],
  ['none', false, false],
])(
  'there is no difference when %s has applied an erasure beyond the compared point',
  async (_name, oldHas, newHas) => {
    const covered = [report('a'), report('b'), report('c'), report('b')]
    const since = [erasure('b'), report('b'), report('a')]
    await project(before, oldHas ? [...covered, ...since] : covered)
    await project(after, newHas ? [...covered, ...since] : covered)
    const left = oldHas || newHas ? { records: 2, devices: 2 } : { records: 4, devices: 3 }
    expect(await compare(covered.at(-1))).toEqual({ equal: true, ...left })
  },
)

test.each(['pageStatuses', 'scanRecords', 'erasedUpTo'] as const)(
  'there is no difference when one generation applies an erasure right before its %s',
  async (method) => {
    for (const name of ['before', 'after'] as const) {
      const covered = [report('a'), report('b'), report('b')]
      const since = [erasure('b'), report('b')]
      await project(before, covered)
      await project(after, covered)
      const generations = { before, after }
      const applies = generations[name]
      const whole = await compare(covered.at(-1), {
        ...generations,
        [name]: doingFirst(applies, method, () => project(applies, since)),
      })
      expect(whole).toMatchObject({ equal: true })
      await project(name === 'before' ? after : before, since)
    }
  },
)

test('generations with many devices, many of them erased, do not differ', async () => {
  const covered = Array.from({ length: 450 }, (_, n) => report(`é${n % 10}-${n}`))
  const since = covered
    .filter((_entry, n) => n % 3 === 0)
    .map(({ event: { deviceId } }) => erasure(deviceId))
  const others = Array.from({ length: 250 }, (_, n) => report(`z${n}`))
  await project(before, [...covered, ...since])
  await project(after, [...covered, ...others])
  expect(await compare(covered.at(-1))).toEqual({ equal: true, records: 300, devices: 300 })
})

test('a missing record or device is found beside an erased device', async () => {
  const [a, b, c, again] = [report('a'), report('b'), report('c'), report('c')]
  const since = erasure('b')
  await project(before, [a, b, c, again, since])
  await project(after, [a, b, c, since])
  expect(await compare(again)).toMatchObject({ equal: false, records: 2, devices: 2 })
  expect(await compare(c)).toMatchObject({ equal: true, records: 2, devices: 2 })
})

test('an account in only one generation is a difference', async () => {
  const own = report('a')
  const others = log.append(positionReported({ accountId: 'acc-2', deviceId: 'a' }))
  await project(before, [own])
  await project(after, [own, others])
  expect(await compare(own)).toMatchObject({ equal: true, records: 1 })
  expect(await compare(others)).toMatchObject({ equal: false, records: 2, devices: 2 })
})

test('an erasure that was passed but not applied is a difference', async () => {
  const [a, b, erased] = [report('a'), report('b'), erasure('b')]
  await project(before, [a, b, erased])
  await project(after, [a, b])
  expect(await compare(erased)).toMatchObject({ equal: false, records: 2, devices: 2 })
})

const heard = (deviceId: string, receivedAt: number) =>
  log.hear(deviceSeen({ deviceId, receivedAt }))

test('generations with the same heartbeats do not differ', async () => {
  const covered = [report('a'), heard('a', T0 + 9 * HOUR_MS), heard('a', T0 + 8 * HOUR_MS)]
  await project(before, covered)
  await project(after, covered)
  expect(await compare(covered.at(-1))).toEqual({ equal: true, records: 1, devices: 1 })
})

test('a heartbeat that only one generation has applied is a difference', async () => {
  const [a, b, heartbeat] = [report('a'), report('b'), heard('a', T0 + 9 * HOUR_MS)]
  await project(before, [a, b, heartbeat])
  await project(after, [a, b])
  expect(await compare(heartbeat)).toMatchObject({ equal: false })
  expect(await compare(b)).toMatchObject({ equal: true, devices: 2 })
})

test.each([
  ['only the old one', true, false],
  ['only the new one', false, true],
  ['both', true, true],
])('there is no difference when %s has applied later heartbeats', async (_name, oldHas, newHas) => {
  const covered = [report('a'), heard('a', T0 + 9 * HOUR_MS), report('b')]
  const since = [heard('a', T0 + 10 * HOUR_MS), heard('b', T0 + 10 * HOUR_MS)]
  await project(before, oldHas ? [...covered, ...since] : covered)
  await project(after, newHas ? [...covered, ...since] : covered)
  expect(await compare(covered.at(-1))).toEqual({ equal: true, records: 2, devices: 2 })
})

test('a last-seen time that matches no record or heartbeat is a difference', async () => {
  const covered = [report('a'), heard('a', T0 + 9 * HOUR_MS)]
  await project(before, covered)
  await project(after, covered)
  const damaged: Generation = {
    ...after,
    async pageStatuses(query) {
      const page = await after.pageStatuses(query)
      return page.map((status) => ({ ...status, lastSeenAt: status.lastSeenAt + 1 }))
    },
  }
  expect(await compare(covered.at(-1), { before, after: damaged })).toMatchObject({
    equal: false,
  })
})

test('a device with only heartbeats left after retention is not compared', async () => {
  const [gone, heartbeat] = [report('gone'), heard('gone', T0 + 9 * HOUR_MS)]
  const both = [report('a'), heard('a', T0 + 10 * HOUR_MS)]
  await project(before, [gone, heartbeat, ...both])
  await before.project(batchOf(report('b')))
  await after.project(batchOf(heartbeat, ...both))
  const taken: Generation = {
    ...before,
    async *scanRecords(query) {
      for await (const chunk of before.scanRecords(query)) {
        yield chunk.filter(({ deviceId }) => deviceId !== 'gone')
      }
    },
  }
  const cover = { upTo: { 0: 3 }, receivedSince: T0, partial: true }
  const { signal } = new AbortController()
  const digests = await digestsOf({ before: taken, after }, cover, signal)
  expect(digests.before).toEqual(digests.after)
  expect(digests.after.devices.count).toBe(1)
})

/** The same generation, with an action before the first call of a method. */
function doingFirst(
  generation: Generation,
  method: 'pageStatuses' | 'scanRecords' | 'erasedUpTo',
  first: () => Promise<void>,
): Generation {
  let done: Promise<void> | undefined
  const once = () => (done ??= first())
  return {
    ...generation,
    async pageStatuses(query) {
      if (method === 'pageStatuses') await once()
      return generation.pageStatuses(query)
    },
    async *scanRecords(query) {
      if (method === 'scanRecords') await once()
      yield* generation.scanRecords(query)
    },
    async erasedUpTo(query) {
      if (method === 'erasedUpTo') await once()
      return generation.erasedUpTo(query)
    },
  }
}

describe('telemetry', () => {
  const ping = (event: PositionReported, minutes: number, battery: number) =>
    log.append({ ...event, receivedAt: event.receivedAt + minutes * 60_000, battery })
  const heartbeat = (battery: number) => log.hear(deviceSeen({ deviceId: 'phone', battery }))

  test.each(['before', 'after'] as const)(
    'extra data after the compared point in only the generation %s is no difference',
    async (name) => {
      const generations = { before, after }
      const first = report('phone')
      const covered = [first, ping(first.event, 1, 0.4)]
      const sinces = [
        () => [ping(first.event, 2, 0.3)],
        () => [heartbeat(0.2)],
        () => [report('phone')],
        () => [report('phone'), heartbeat(0.1)],
      ]
      await project(before, covered)
      await project(after, covered)
      for (const since of sinces) {
        const entries = since()
        await project(generations[name], entries)
        expect(await compare(covered.at(-1))).toMatchObject({ equal: true, records: 1 })
        await project(name === 'before' ? after : before, entries)
        expect(await compare(entries.at(-1))).toMatchObject({ equal: true })
      }
    },
  )

  test('that differs is found, even after its device has reported elsewhere', async () => {
    const first = report('phone')
    const repeat = ping(first.event, 1, 0.4)
    await project(before, [first, repeat])
    await project(after, [first, { ...repeat, event: { ...repeat.event, battery: 0.5 } }])
    expect(await compare(repeat)).toMatchObject({ equal: false, records: 1 })
    const other = report('other')
    await project(before, [other])
    await project(after, [other])
    expect(await compare(other)).toMatchObject({ equal: false, records: 2 })
  })
})
