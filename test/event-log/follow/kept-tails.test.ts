import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import type { ReadableLog } from '../../../event-log/follow/followed.ts'
import { openFeeds } from '../../../event-log/follow/open-feeds.ts'
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
async function openFeed(options: { keptMs?: number; mostKept?: number }) {
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
  await eventLog.append(events)
  const tails = { begun: 0, open: 0 }
  let isLive = true
  const counted: ReadableLog['tail'] = async function* (given) {
    tails.begun += 1
    tails.open += 1
    try {
      yield* eventLog.tail(given)
    } finally {
      tails.open -= 1
    }
  }
  const { positions } = openFeeds({
    eventLog: {
      extent: () => eventLog.extent(),
      placeBefore: (time) => eventLog.placeBefore(time),
      tail(given) {
        // The first one is that of the live reader.
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
    async read(after: string, limit = 70) {
      const page = await positions.read({
        accountId: 'acc-1',
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

test('pages of the past that follow one another share one tail of the log, and have every event once', async () => {
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

test('a page that begins elsewhere has a tail of its own', async () => {
  const start = await open.start()
  // Behind the first entries that the log hands over together.
  const far = await open.read(start, 550)
  expect((await open.read(start)).ids).toEqual(open.appended.slice(0, 70))
  expect(open.tails.begun).toBe(2)
  expect((await open.read(far.mark, 10)).ids).toEqual(open.appended.slice(550, 560))
  expect(open.tails.begun).toBe(2)
})

test('a tail whose reader does not return ends after a while', async () => {
  open = await openFeed({ keptMs: 1 })
  await open.read(await open.start())
  await eventually(() => open.tails.open === 0)
})

test('the oldest of too many tails ends', async () => {
  open = await openFeed({ mostKept: 2 })
  const start = await open.start()
  // Each ends where the others do not begin.
  for (let turn = 0; turn < 4; turn += 1) await open.read(start, 510 + turn)
  await eventually(() => open.tails.open === 2)
})

test('all tails end when the process stops', async () => {
  await open.read(await open.start())
  expect(open.tails.open).toBe(1)
  open.stopping.abort()
  await eventually(() => open.tails.open === 0)
})
