import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openFeeds } from '../../../event-log/reading/open-feeds.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { ownDirectory } from '../../own-directory.ts'
import { positionReported, T0 } from '../../samples.ts'

test('a page of a live reader behind the log does not claim to be its end', async () => {
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
  let open = () => {}
  let gate = Promise.resolve()
  const slow: Pick<EventLog, 'tail' | 'extent' | 'placeBefore'> = {
    extent: () => eventLog.extent(),
    placeBefore: (time) => eventLog.placeBefore(time),
    async *tail(options) {
      for await (const item of eventLog.tail(options)) {
        await gate
        yield item
      }
    },
  }
  const { positions } = openFeeds({
    eventLog: slow,
    factLog: store.factLog,
    store,
    logger: { debug() {}, warn() {}, error() {} },
    stopping: stopping.signal,
  })
  const read = (after: string, waitMs = 0) =>
    positions.read({
      accountId: 'acc-1',
      after,
      limit: 9,
      waitMs,
      wants: () => true,
      signal: stopping.signal,
    })
  await eventLog.append([positionReported()])
  const first = await read(await positions.markAt('start'))
  expect(first).toMatchObject({ items: [{ kind: 'event' }], end: true })
  gate = new Promise((resolve) => (open = resolve))
  await eventLog.append([positionReported()])
  expect(await read(first.mark)).toMatchObject({ items: [], end: false, gap: false })
  open()
  const second = await read(first.mark, 60_000)
  expect(second).toMatchObject({ items: [{ kind: 'event' }], end: true })
})
