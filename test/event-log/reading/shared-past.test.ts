import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import type { ReadableLog } from '../../../event-log/event-log.ts'
import { openFeeds, type FeedsOptions } from '../../../event-log/reading/open-feeds.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { ownDirectory } from '../../own-directory.ts'
import { positionReported, T0 } from '../../samples.ts'

let open: Awaited<ReturnType<typeof openFeed>>
beforeEach(async () => {
  open = await openFeed({})
})

/** A feed of positions whose ring holds a single one, and a log that counts the tails of the past. */
async function openFeed(options: Partial<FeedsOptions>) {
  const directory = await ownDirectory()
  const clock = { now: () => T0 }
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory, clock })
  const stopping = new AbortController()
  closeAfterwards(async () => {
    stopping.abort()
    await store.close()
    await eventLog.close()
  })
  const events = Array.from({ length: 600 }, () => positionReported())
  await eventLog.append([positionReported({ accountId: 'acc-2' }), ...events])
  const tails = { begun: 0, open: 0, mostOpen: 0, extents: 0 }
  let isLive = true
  const counted: ReadableLog['tail'] = async function* (given) {
    tails.begun += 1
    tails.open += 1
    tails.mostOpen = Math.max(tails.mostOpen, tails.open)
    try {
      yield* eventLog.tail(given)
    } finally {
      tails.open -= 1
    }
  }
  const { positions } = openFeeds({
    eventLog: {
      extent() {
        tails.extents += 1
        return eventLog.extent()
      },
      placeBefore: (time) => eventLog.placeBefore(time),
      tail(given) {
        // The first tail belongs to the live reader.
        const tail = isLive ? eventLog.tail(given) : counted(given)
        isLive = false
        return tail as ReturnType<typeof eventLog.tail>
      },
    },
    factLog: store.factLog,
    store,
    logger: { debug() {}, warn() {}, error() {} },
    stopping: stopping.signal,
    options: { ringEntries: 1, ...options },
  })
  return {
    appended: events.map(({ recordId }) => recordId),
    tails,
    stopping,
    start: () => positions.markAt('start'),
    async appendOne() {
      await eventLog.append([positionReported()])
      return positions.markAt('end')
    },
    async read(after: string, limit = 70, accountId = 'acc-1') {
      const page = await positions.read({
        accountId,
        after,
        limit,
        wants: () => true,
        signal: stopping.signal,
      })
      const ids = page.items.map(({ event }) => ('recordId' in event ? event.recordId : ''))
      return { ...page, ids }
    },
  }
}

test('successive pages of the past share one tail of the log, and have every event once', async () => {
  const ids: string[] = []
  let page = await open.read(await open.start())
  for (;;) {
    ids.push(...page.ids)
    if (page.end) break
    page = await open.read(page.mark)
  }
  expect(ids).toEqual(open.appended)
  expect(open.tails.begun).toBe(1)
})

test('entries read by one reader of the past serve the others without reading the log again', async () => {
  const readers = Array.from({ length: 20 }, async () => {
    const ids: string[] = []
    for (let mark = await open.start(); ids.length < 60;) {
      const page = await open.read(mark, 1)
      ids.push(...page.ids)
      mark = page.mark
    }
    return ids
  })
  for (const ids of await Promise.all(readers)) expect(ids).toEqual(open.appended.slice(0, 60))
  expect(open.tails.begun).toBeLessThanOrEqual(2)
})

test('entries cached for other readers are limited in bytes; beyond that the log is read again', async () => {
  open = await openFeed({ pastBytes: 1 })
  const start = await open.start()
  expect((await open.read(start, 9)).ids).toEqual(open.appended.slice(0, 9))
  expect((await open.read(start, 9)).ids).toEqual(open.appended.slice(0, 9))
  expect(open.tails.begun).toBe(2)
})

test('only a few readers of the past read the log at a time, and each gets its page', async () => {
  open = await openFeed({ pastBytes: 1 })
  const start = await open.start()
  const limits = Array.from({ length: 20 }, (_, at) => 510 + at)
  const pages = await Promise.all(limits.map((limit) => open.read(start, limit)))
  pages.forEach(({ ids }, at) => expect(ids).toEqual(open.appended.slice(0, limits[at])))
  // One may still be ending.
  expect(open.tails.mostOpen).toBeLessThanOrEqual(5)
})

test('an account that reads much of the past does not delay another account', async () => {
  open = await openFeed({ pastBytes: 1, pastReaders: 2, pastReadersEach: 1 })
  const start = await open.start()
  const order: string[] = []
  const read = async (accountId: string) => {
    await open.read(start, 1, accountId)
    order.push(accountId)
  }
  const busy = Array.from({ length: 10 }, () => read('acc-1'))
  await read('acc-2')
  expect(order.filter((accountId) => accountId === 'acc-1').length).toBeLessThan(5)
  await Promise.all(busy)
})

test('readers that start together share one look-up of the log’s end', async () => {
  const start = await open.start()
  await open.read(start)
  open.tails.extents = 0
  await Promise.all(Array.from({ length: 50 }, () => open.read(start)))
  expect(open.tails.extents).toBeLessThan(10)
})

test('a mark past the end that a reader remembers is not taken for another log’s', async () => {
  open = await openFeed({ extentMs: 60_000 })
  await open.read(await open.start(), 1_000)
  const mark = await open.appendOne()
  expect(await open.read(mark)).toMatchObject({ gap: false, ids: [] })
})

test('the tail of a reader that does not return ends after a while', async () => {
  open = await openFeed({ keptMs: 1 })
  await open.read(await open.start())
  await eventually(() => open.tails.open === 0)
})

test('all tails end when the process stops', async () => {
  await open.read(await open.start())
  expect(open.tails.open).toBe(1)
  open.stopping.abort()
  await eventually(() => open.tails.open === 0)
})
