import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { flushSoon, RejectionQueue } from '../../../ingest-api/accept/rejections.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics, type Metrics } from '../../../runtime/process/metrics.ts'
import type { RejectionError, ReportRejected } from '../../../schemas/events/report-rejected.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'

const clock = { time: T0, now: () => clock.time }
const steadyClock = { ahead: 0, now: () => clock.time + steadyClock.ahead }
const away = new DependencyError('the log is away', { retriable: true })

const directory = directoryForEachTest()
let eventLog: EventLog
let metrics: Metrics
/** Replaced if the log must fail or hang. */
let append: EventLog['rejections']['append']
let warnings: number
let rejections: RejectionQueue

beforeEach(() => {
  clock.time = T0
  steadyClock.ahead = 0
  eventLog = openSqliteEventLog({ file: join(directory(), 'log.sqlite'), clock })
  metrics = createMetrics()
  append = (events) => eventLog.rejections.append(events)
  warnings = 0
  const logger = createLogger({ level: 'silent', name: 'test' })
  logger.warn = () => void (warnings += 1)
  rejections = new RejectionQueue({
    topic: { append: (events) => append(events) },
    clock,
    steadyClock,
    metrics,
    logger,
  })
})

afterEach(() => eventLog.close())

function refuse(
  count: number,
  keyId = 'key-1',
  error: RejectionError = 'INVALID_PARAMS',
  accountId = 'acc-1',
): void {
  for (let n = 0; n < count; n += 1) {
    const key = { id: keyId, accountId }
    rejections.offer({ key, error, message: `fault ${n}`, received: { json: { deviceId: 'd' } } })
  }
}

/** As many as one account may store in a second, from five keys; then the next second starts. */
function refuseForOneSecond(): void {
  for (let key = 0; key < 5; key += 1) refuse(20, `key-${key}`)
  clock.time += 1_000
}

/** Every rejection in the log; there must be at least one. */
async function logged(): Promise<ReportRejected[]> {
  const found: ReportRejected[] = []
  const reading = new AbortController()
  // After all earlier entries.
  const last = { keyId: 'last', accountId: 'acc-1', receivedAt: clock.time, message: 'last' }
  const rejectionId = `7${String(clock.time).padStart(25, '0')}`
  await eventLog.rejections.append([{ ...last, rejectionId, error: 'FORBIDDEN', count: 1 }])
  await eventLog.rejections.subscribe({
    group: rejectionId,
    signal: reading.signal,
    async onBatch(events) {
      found.push(...events.filter(({ keyId }) => keyId !== 'last'))
      if (events.some((event) => event.rejectionId === rejectionId)) reading.abort()
    },
  })
  return found
}

async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.rejections.get()
  const increased = values.filter(({ value }) => value > 0)
  return Object.fromEntries(increased.map(({ labels, value }) => [String(labels.outcome), value]))
}

describe('rejections', () => {
  test('up to 20 rejected reports of a key and second are stored individually, the rest are counted', async () => {
    refuse(20)
    refuse(5)
    refuse(3, 'key-1', 'FORBIDDEN')
    refuse(20, 'key-2')
    clock.time = T0 + 999
    refuse(1)
    await rejections.flush()
    expect(await logged()).toHaveLength(40)

    clock.time = T0 + 1_000
    await rejections.flush()
    const events = await logged()
    expect(events.filter(({ count }) => count === 1)).toHaveLength(40)
    const counts = events.slice(40).map(({ rejectionId: _id, ...event }) => event)
    const counting = { accountId: 'acc-1', keyId: 'key-1' }
    expect(counts).toEqual([
      {
        ...counting,
        error: 'INVALID_PARAMS',
        count: 6,
        message: 'fault 0',
        receivedAt: T0 + 999,
      },
      { ...counting, error: 'FORBIDDEN', count: 3, message: 'fault 2', receivedAt: T0 },
    ])
    expect(new Set(events.map(({ rejectionId }) => rejectionId)).size).toBe(42)
    expect(await counted()).toEqual({ kept: 40, counted: 9 })
  })

  test('up to 100 rejected reports a second of one account are stored, the rest are counted', async () => {
    refuseForOneSecond()
    clock.time -= 1
    refuse(3, 'key-10')
    clock.time += 1
    refuse(1, 'key-10')
    await rejections.flush()
    const events = await logged()
    expect(events.filter(({ count }) => count === 1)).toHaveLength(101)
    expect(events.filter(({ keyId }) => keyId === 'key-10').map(({ count }) => count)).toEqual([
      3, 1,
    ])
    expect(await counted()).toEqual({ kept: 101, counted: 3 })
  })

  test('up to 200 rejected reports a second of all accounts together are stored, with a share for each account', async () => {
    const flood = (account: number) => {
      for (let key = 0; key < 20; key += 1) {
        refuse(20, `key-${account}-${key}`, 'INVALID_PARAMS', `flood-${account}`)
      }
    }
    const keptOf = async (keyId: string) =>
      (await logged()).filter((event) => event.keyId === keyId && event.count === 1).length
    const floods = () => [0, 1, 2, 3].forEach(flood)
    const kept = async () => (await counted())['kept'] ?? 0
    floods()
    await rejections.flush()
    expect(await kept()).toBe(200)

    // A slot is free for the next one.
    clock.time += 1_000
    floods()
    refuse(5, 'key-quiet', 'INVALID_PARAMS', 'quiet')
    await rejections.flush()
    expect(await kept()).toBe(200 + 4 * 40 + 5)
    expect(await keptOf('key-quiet')).toBe(5)

    clock.time += 1_000
    floods()
    refuse(25, 'key-quiet', 'INVALID_PARAMS', 'quiet')
    await rejections.flush()
    expect(await kept()).toBe(365 + 4 * 33 + 20)

    clock.time += 60_000
    refuseForOneSecond()
    await rejections.flush()
    expect(await kept()).toBe(517 + 100)
  })

  test('the counts of rejected reports restart with each second', async () => {
    refuse(25)
    clock.time = T0 + 1_000
    refuse(25)
    clock.time = T0 + 2_000
    await rejections.flush()
    const events = await logged()
    expect(events.map(({ count }) => count).filter((count) => count > 1)).toEqual([5, 5])
    expect(await counted()).toEqual({ kept: 40, counted: 10 })
    clock.time = T0 + 3_000
    await rejections.flush()
    expect(await counted()).toEqual({ kept: 40, counted: 10 })
  })

  test('setting the machine’s clock starts no new second', async () => {
    refuse(20)
    clock.time -= 3_600_000
    steadyClock.ahead = 3_600_000
    refuse(5)
    steadyClock.ahead += 1_000
    await rejections.flush()
    expect(await counted()).toEqual({ kept: 20, counted: 5 })
  })

  test('all rejected reports are written at shutdown, including those of an unfinished second', async () => {
    refuse(21)
    await rejections.close()
    expect(await logged()).toHaveLength(21)
    expect(await counted()).toEqual({ kept: 20, counted: 1 })
  })

  test('rejected reports are written after pending ones, and none twice', async () => {
    let go = () => {}
    let atOnce = 0
    const held = new Promise<void>((resolve) => (go = resolve))
    append = async (events) => {
      atOnce += 1
      expect(atOnce).toBe(1)
      await held
      await eventLog.rejections.append(events)
      atOnce -= 1
    }
    refuse(10)
    const writing = rejections.flush()
    refuse(10)
    const again = rejections.flush()
    const closing = rejections.close()
    go()
    await Promise.all([writing, again, closing])
    expect(await logged()).toHaveLength(20)
    expect(await counted()).toEqual({ kept: 20 })
  })
})

describe('rejections while their log is unavailable', () => {
  test('while their topic cannot be written, rejections are dropped with one warning a minute, and later ones are stored', async () => {
    append = () => Promise.reject(away)
    for (let second = 0; second <= 60; second += 1) {
      clock.time = T0 + second * 1_000
      refuse(22)
      await rejections.flush()
      if (second < 60) expect(warnings).toBe(1)
    }
    expect(warnings).toBe(2)
    // The two rejections of the last second are only reported at its end.
    expect(await counted()).toEqual({ dropped: 61 * 20 + 60 * 2 })
    append = (events) => eventLog.rejections.append(events)
    clock.time += 1_000
    refuse(1)
    await rejections.flush()
    expect(await logged()).toHaveLength(2)
  })

  test('while their topic cannot be written, at most 1000 rejections wait in memory', async () => {
    const batches: number[] = []
    for (let second = 0; second < 12; second += 1) refuseForOneSecond()
    expect(await counted()).toEqual({ dropped: 200 })
    append = async (events) => {
      batches.push(events.length)
      await eventLog.rejections.append(events)
    }
    await rejections.flush()
    expect(await logged()).toHaveLength(1_000)
    expect(batches).toEqual(Array.from({ length: 10 }, () => 100))
  })

  test('while writing their topic hangs, rejections delay no request', async () => {
    let give = (_error: Error) => {}
    append = () => new Promise((_resolve, reject) => (give = reject))
    refuse(1)
    const writing = rejections.flush()
    clock.time += 1_000
    for (let second = 0; second < 12; second += 1) refuseForOneSecond()
    expect(await counted()).toEqual({ dropped: 200 })
    give(away)
    await writing
    expect(await counted()).toEqual({ dropped: 201 })
    append = (events) => eventLog.rejections.append(events)
    await rejections.close()
    expect(await counted()).toEqual({ dropped: 201, kept: 1_000 })
  })
})

test('the queue is flushed from an offer on until the counts of its second are written, else never', async () => {
  let flushes = 0
  const flushed = {
    offer: (refused: Parameters<typeof rejections.offer>[0]) => rejections.offer(refused),
    async flush() {
      flushes += 1
      await rejections.flush()
    },
  }
  const queue = flushSoon(flushed, { everyMs: 2, steadyClock })
  await wait(20)
  expect(flushes).toBe(0)
  const key = { id: 'key-1', accountId: 'acc-1' }
  const refused = { key, error: 'FORBIDDEN', message: 'no', received: { json: {} } } as const
  for (let n = 0; n < 23; n += 1) queue.offer(refused)
  await eventually(() => flushes > 3)
  expect(await logged()).toHaveLength(20)

  clock.time += 1_002
  const before = flushes
  await eventually(() => flushes > before)
  expect((await logged()).map(({ count }) => count).at(-1)).toBe(3)
  const last = flushes
  await wait(20)
  expect(flushes).toBe(last)
})
