import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  ACCOUNTS_FILE,
  openSqliteStore,
  type SqliteStore,
} from '../../../store/sqlite/sqlite-store.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const MINUTE_MS = 60_000
const HOUR = Math.floor(Date.now() / 3_600_000) * 3_600_000
const SERVICES = ['ingest-api', 'projector', 'admin-api', 'deliverer'] as const
const ids = SERVICES.map(() => randomUUID())

const directory = directoryForEachTest()
const clock = { time: HOUR, now: () => clock.time }
const open = () => openSqliteStore({ directory: directory(), clock })

/** All services report every 10 s. */
async function reportFor(store: SqliteStore, ms: number): Promise<void> {
  for (const end = clock.time + ms; clock.time < end; clock.time += 10_000) {
    for (const [n, service] of SERVICES.entries()) {
      await store.saveInstance({
        instanceId: ids[n] ?? '',
        service,
        version: '1.2.0',
        host: 'host',
        startedAt: HOUR,
        reportedAt: clock.time,
        ...(service === 'ingest-api' && { acceptedPerMinute: 7, refusedPerMinute: 0 }),
        ...(service === 'projector' && { lag: { events: 0, seconds: 0 }, deadLetters: 0 }),
      })
    }
  }
}

/** The database's counter of changes by others. */
function changesSeenBy(watcher: DatabaseSyncInstance): unknown {
  return watcher.prepare('PRAGMA data_version').get()
}

test('ten minutes of reports of all services are written to the disk in ten commits at most', async () => {
  clock.time = HOUR
  const store = open()
  const watcher = new DatabaseSync(join(directory(), ACCOUNTS_FILE))
  let seen = changesSeenBy(watcher)
  let commits = 0
  for (let n = 0; n < 60; n += 1) {
    await reportFor(store, 10_000)
    const now = changesSeenBy(watcher)
    if (JSON.stringify(now) !== JSON.stringify(seen)) commits += 1
    seen = now
  }
  watcher.close()
  expect(commits).toBeGreaterThan(0)
  expect(commits).toBeLessThanOrEqual(10)
  await store.close()
})

test('all minutes but the last survive a crash, and all of them an ordinary end', async () => {
  // The last report is the first of its minute, and comes 10 s after the others were saved.
  clock.time = HOUR + 50_000
  const crashed = open()
  await reportFor(crashed, 4 * MINUTE_MS + 20_000)
  const minutes = async (store: SqliteStore) => {
    const all = await store.instanceMinutes({ since: HOUR })
    return [...new Set(all.map(({ start }) => (start - HOUR) / MINUTE_MS))].sort()
  }
  expect(await minutes(crashed)).toEqual([0, 1, 2, 3, 4, 5])

  const next = open()
  expect(await minutes(next)).toEqual([0, 1, 2, 3, 4])
  await next.close()
  await crashed.close()
  const last = open()
  expect(await minutes(last)).toEqual([0, 1, 2, 3, 4, 5])
  expect(await last.instanceMinutes({ since: HOUR })).toContainEqual({
    start: HOUR + 5 * MINUTE_MS,
    acceptedPerMinute: 7,
    refusedPerMinute: 0,
  })
  await last.close()
})

test('minutes removed as outdated do not come back with the next start', async () => {
  clock.time = HOUR
  const store = open()
  await reportFor(store, 5 * MINUTE_MS)
  await store.removeOutdated(HOUR + 26 * 60 * MINUTE_MS)
  await store.close()
  const next = open()
  expect(await next.instanceMinutes({ since: 0 })).toEqual([])
  await next.close()
})

test('an instance of the process before is not listed after a restart', async () => {
  clock.time = HOUR
  const store = open()
  await reportFor(store, 10_000)
  expect(await store.instances({ reportedSince: HOUR })).toHaveLength(SERVICES.length)
  await store.close()
  const next = open()
  expect(await next.instances({ reportedSince: HOUR })).toEqual([])
  await next.close()
})
