/** @node all */
import { basename, join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import { account } from '../contracts/store-samples.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { deviceErased, positionReported, reportRejected, T0 } from '../samples.ts'

const NORMAL = 1
const FULL = 2
let commits: { file: string; synchronous: unknown; journal: unknown }[] = []

/** The real driver; records at each commit which durability its connection promises. */
class WatchedDatabase extends DatabaseSync {
  override exec(sql: string): void {
    if (/^\s*COMMIT/i.test(sql)) {
      commits.push({
        file: basename(this.location() ?? ''),
        synchronous: pragma(this, 'synchronous'),
        journal: pragma(this, 'journal_mode'),
      })
    }
    super.exec(sql)
  }
}
jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: WatchedDatabase }))
const { openSqliteEventLog } = await import('../../event-log/sqlite/sqlite-event-log.ts')
const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.ts')

const directory = directoryForEachTest()

function pragma(database: DatabaseSyncInstance, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]
}

test('every commit of the log waits for the disk', async () => {
  const clock = { now: () => T0 }
  const log = openSqliteEventLog({ file: join(directory(), 'log.sqlite'), clock })
  const changes = {
    append: () => log.append([positionReported()]),
    erase: () => log.erase(deviceErased()),
    appendRejections: () => log.rejections.append([reportRejected()]),
    deadLetter: () =>
      log.deadLetters.append([
        {
          kind: 'unreadable',
          origin: { partition: 0, offset: 1 },
          reason: 'no JSON',
          key: null,
          value: null,
        },
      ]),
  }
  for (const [name, change] of Object.entries(changes)) {
    commits = []
    await change()
    expect([name, commits]).toEqual([
      name,
      [{ file: 'log.sqlite', synchronous: FULL, journal: 'wal' }],
    ])
  }
  await log.close()
})

test('writes of accounts wait for the disk; those of read models, derived from the log, do not', async () => {
  const store = openSqliteStore({ directory: directory() })
  commits = []
  await store.createAccount(account())
  const entry = { kind: 'position', origin: { partition: 0, offset: 1 }, event: positionReported() }
  await store.project({
    partition: 0,
    lastOffset: 1,
    fold: deviceStatus,
    foldVersion: FOLD_VERSION,
    entries: [entry as never],
  })
  await store.close()
  const synchronous = (file: RegExp) => [
    ...new Set(commits.filter((commit) => file.test(commit.file)).map((one) => one.synchronous)),
  ]
  expect(synchronous(/^accounts/)).toEqual([FULL])
  expect(synchronous(/^read-models/)).toEqual([NORMAL])
})
