import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { startLiveFeed, type LiveFeed } from '../../../event-log/reading/live-feed.ts'
import { openFeeds } from '../../../event-log/reading/open-feeds.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { ownDirectory } from '../../own-directory.ts'
import { positionReported, T0 } from '../../samples.ts'

let open: Awaited<ReturnType<typeof openLog>>
beforeEach(async () => {
  open = await openLog()
})

/** A log whose live reader counts the entries it reads. */
async function openLog() {
  const directory = await ownDirectory()
  const clock = { now: () => T0 }
  const eventLog: EventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory, clock })
  const stopping = new AbortController()
  const logger = { debug() {}, warn() {}, error() {} }
  closeAfterwards(async () => {
    stopping.abort()
    await store.close()
    await eventLog.close()
  })
  const looked = { entries: 0 }
  const live = startLiveFeed({
    eventLog,
    store,
    logger,
    signal: stopping.signal,
    ringEntries: 10_000,
    ringBytes: 100_000_000,
    retryMs: 10,
    unreadableEveryMs: 10,
  })
  await live.until(live.hasBegun, { signal: stopping.signal })
  const { ring } = live
  const counted = Object.create(ring, {
    at: {
      value: (number: number) => {
        looked.entries += 1
        return ring.at(number)
      },
    },
  }) as LiveFeed['ring']
  const feed = Object.create(live, { ring: { value: counted } }) as LiveFeed
  const { positions } = openFeeds({
    eventLog,
    factLog: store.factLog,
    store,
    logger,
    stopping: stopping.signal,
    joinEvents: () => ({ feed, leave() {} }),
  })
  return {
    looked,
    positions,
    append: (count: number, accountId: string) =>
      eventLog.append(Array.from({ length: count }, () => positionReported({ accountId }))),
    read: (accountId: string, after: string, { limit = 100 } = {}) =>
      positions.read({
        accountId,
        after,
        limit,
        wants: () => true,
        signal: stopping.signal,
      }),
  }
}

test('a reader continuing from a mark reads only new entries, however many the process remembers', async () => {
  await open.append(500, 'acc-1')
  let page = await open.read('acc-1', await open.positions.markAt('start'), { limit: 499 })
  expect(page.items).toHaveLength(499)
  open.looked.entries = 0
  page = await open.read('acc-1', page.mark)
  expect(page).toMatchObject({ end: true, items: [{ kind: 'event' }] })
  await open.append(3, 'acc-1')
  await eventually(async () => (await open.read('acc-1', page.mark)).items.length === 3)
  open.looked.entries = 0
  const { items } = await open.read('acc-1', page.mark)
  // An item's mark works like a page's.
  expect((await open.read('acc-1', items[0]!.mark)).items).toHaveLength(2)
  expect((await open.read('acc-1', items[2]!.mark)).items).toEqual([])
  expect(open.looked.entries).toBeLessThan(20)
})
