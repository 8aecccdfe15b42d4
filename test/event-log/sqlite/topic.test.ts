import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { REJECTIONS_KEPT_MS, type ReportRejected } from '../../../schemas/events/report-rejected.ts'
import { aGroup } from '../../contracts/event-log-suite.ts'
import { readRejections } from '../../contracts/rejection-reader.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { eventually } from '../../eventually.ts'
import { reportRejected, T0 } from '../../samples.ts'

const folder = directoryForEachTest()
let file: string
let now: number
const opened: EventLog[] = []

beforeEach(() => {
  file = join(folder(), 'log.sqlite')
  now = T0
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
})

test('rejections older than 7 days are removed when new ones are appended', async () => {
  const log = openLog()
  const kept = reportRejected({ receivedAt: T0 + 1 })
  const old = reportRejected({ receivedAt: T0 })
  await log.rejections.append([kept, old])
  now = T0 + REJECTIONS_KEPT_MS
  expect(await readAll(log)).toEqual([kept, old])
  now += 1
  const fresh = reportRejected({ receivedAt: now })
  await log.rejections.append([fresh])
  expect(await readAll(log)).toEqual([kept, fresh])
})

test('rejections older than 7 days are removed by the clock, even without appends and after a restart', async () => {
  const log = openLog()
  for (let n = 0; n < 3; n += 1) {
    await log.rejections.append(
      Array.from({ length: 500 }, () => reportRejected({ receivedAt: T0 })),
    )
  }
  await log.rejections.append([reportRejected({ receivedAt: T0 + 1 })])
  await log.close()
  now = T0 + REJECTIONS_KEPT_MS + 1
  openLog({ expireEveryMs: 5 })
  await eventually(() => rows() === 1)
})

test('many expired rejections are removed in steps, a thousand with each append', async () => {
  const log = openLog()
  for (let rest = 2500; rest > 0; rest -= 500) {
    await log.rejections.append(Array.from({ length: 500 }, () => reportRejected()))
  }
  now = 2 * T0
  const fresh = Array.from({ length: 3 }, () => reportRejected({ receivedAt: now }))
  for (const [index, rejection] of fresh.entries()) {
    await log.rejections.append([rejection])
    expect(rows()).toBe(Math.max(0, 2500 - 1000 * (index + 1)) + index + 1)
  }
  expect(await readAll(log)).toEqual(fresh)
})

test('a group that returns after all its entries have expired misses no new one', async () => {
  const log = openLog()
  await log.rejections.append([reportRejected({ receivedAt: T0 })])
  expect(await readAll(log, 'gone')).toHaveLength(1)
  now = 2 * T0
  // It removes the old one, so its offset would be the first again if offsets were reused.
  await log.rejections.append([reportRejected({ receivedAt: T0 })])
  expect(rows()).toBe(0)
  const fresh = reportRejected({ receivedAt: now })
  await log.rejections.append([fresh])
  expect(await readAll(log, 'gone')).toEqual([fresh])
})

test('rejections of one event-loop turn share one commit, and wake waiting readers', async () => {
  const log = openLog()
  const taken: number[] = []
  const stop = new AbortController()
  const subscription = log.rejections.subscribe({
    group: 'admin',
    onBatch: async (events) => void taken.push(events.length),
    signal: stop.signal,
  })
  await Promise.all(Array.from({ length: 100 }, () => log.rejections.append([reportRejected()])))
  await new Promise(setImmediate)
  expect(taken).toEqual([100])
  stop.abort()
  await subscription
})

function openLog(options: { expireEveryMs?: number } = {}): EventLog {
  const log = openSqliteEventLog({ file, clock: { now: () => now }, ...options })
  opened.push(log)
  return log
}

function rows(): number {
  const database = new DatabaseSync(file)
  const { n } = database.prepare('SELECT count(*) AS n FROM "report-rejected"').get() as {
    n: number
  }
  database.close()
  return n
}

/** The rejections that a group has not read yet; a new group reads all. */
async function readAll(log: EventLog, group = aGroup()): Promise<readonly ReportRejected[]> {
  const reader = readRejections(log, { group })
  await eventually(() => reader.taken.length > 0)
  await reader.stop()
  return reader.taken
}
