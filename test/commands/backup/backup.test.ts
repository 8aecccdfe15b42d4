import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { claimFolder } from '../../../commands/backup/manifest.ts'
import { newFolder } from '../../../commands/backup/new-folder.ts'
import { lastBackupAt } from '../../../runtime/sqlite/data-directory.ts'
import { factId } from '../../../schemas/facts/facts.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { T0 } from '../../samples.ts'
import { contentsOf, dataToBackUpForEachTest, OTHER_EVENTS } from './data-to-back-up.ts'

const FILES = [
  'accounts.sqlite',
  'facts.sqlite',
  'log.sqlite',
  'read-models-1.sqlite',
  'rejections.sqlite',
]

const data = dataToBackUpForEachTest()

test('a backup has every file, is readable only by this user, and is recorded in the data directory', async () => {
  await data.report(3, { projected: true })
  await data.report(2)
  const { events, projected, begunAt } = await data.backUp()
  expect({ events, projected, begunAt }).toEqual({ events: 5, projected: 3, begunAt: T0 })
  const folder = data.path('backup')
  expect(readdirSync(folder).sort()).toEqual(['backup.json', ...FILES].sort())
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(await lastBackupAt(data.path('data'))).toBe(T0)
  expect(data.shown).toEqual(
    expect.arrayContaining(['copies log.sqlite: 100 %', 'checks the copy']),
  )
})

test('a backup is complete even if it cannot be recorded in the data directory', async () => {
  await data.report(1)
  mkdirSync(join(data.path('data'), 'last-backup.json'))
  await data.backUp()
  expect(data.shown.at(-1)).toBe(
    `${data.path('data')} cannot be written: the backup is not recorded there`,
  )
  await data.restore()
})

test('the log is copied last, so events that arrive while the store is copied are in the backup', async () => {
  await data.report(1, { projected: true })
  const { events, projected } = await data.backUp({
    copyStore: async (_folders, copy) => {
      await copy('read-models-1.sqlite')
      await copy('accounts.sqlite')
      await data.report(1, { projected: true })
      await copy('facts.sqlite')
      await copy('rejections.sqlite')
      return FILES.filter((name) => name !== 'log.sqlite')
    },
  })
  expect({ events, projected }).toEqual({ events: 2, projected: 1 })
})

test('facts are restored up to the last judged entry', async () => {
  await data.report(1)
  const device = { accountId: 'acc-1', deviceId: 'van' }
  const online = { ...device, type: 'device.online', sequence: 1, at: T0, previous: null } as const
  const decided = { ...online, id: factId(online, ''), decidedAt: T0, inside: [] }
  const state = { sequence: 1, applied: { 0: 1 }, due: null }
  await data.store.judgeFacts({
    read: { partition: 0, lastOffset: 1 },
    devices: [{ ...device, judge: () => ({ state, facts: [decided] }) }],
  })
  await data.backUp()
  await data.restore()
  const restored = openSqliteStore({ directory: data.path('restored') })
  expect(await restored.factsProgress()).toEqual({ 0: 1 })
  expect(await restored.pageFacts({ accountId: 'acc-1', limit: 9 })).toEqual([decided])
  await restored.close()
})

test('a non-empty folder is rejected and left unchanged', async () => {
  mkdirSync(data.path('backup'))
  writeFileSync(join(data.path('backup'), 'notes.txt'), 'mine')
  const before = contentsOf(data.path('backup'))
  await expect(data.backUp()).rejects.toThrow(`${data.path('backup')} is not empty: choose a new`)
  expect(contentsOf(data.path('backup'))).toEqual(before)
  expect(await lastBackupAt(data.path('data'))).toBeUndefined()
})

test('one of two concurrent backups to the same folder completes, the other is rejected', async () => {
  await data.report(2, { projected: true })
  mkdirSync(data.path('backup'))
  const outcomes = await Promise.allSettled([data.backUp(), data.backUp()])
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  expect(refused).toEqual([expect.stringMatching(/another backup goes to|is not empty/)])
  await data.restore()
})

test('a folder claimed by another backup is rejected', async () => {
  const to = data.path('backup')
  const [first, second] = [await newFolder(to), await newFolder(to)]
  await claimFolder(to, first)
  await expect(claimFolder(to, second)).rejects.toThrow(
    `another backup goes to ${to}: choose a new folder`,
  )
  expect(readdirSync(to)).toEqual(['backup.json.new'])
})

test('a disk with too little space is rejected, and no folder is left', async () => {
  await expect(data.backUp({ free: async () => 1_000 })).rejects.toThrow(
    /has 0 MB left, and 0\.\d MB are needed: make room/,
  )
  expect(contentsOf(data.path('backup'))).toBeUndefined()
})

test('a folder that cannot be created is reported in one sentence, without leftovers', async () => {
  for (const [folder, reason] of [
    ['/proc/x/y', 'ENOENT: '],
    ['/dev/null/x', '/dev/null is not a folder'],
    ['/dev/null', '/dev/null is not a folder'],
    [data.path(`new/${'a'.repeat(300)}`), 'ENAMETOOLONG: '],
  ] as const) {
    await expect(data.backUp({ to: folder })).rejects.toThrow(
      `the folder ${folder} cannot be created (${reason}`,
    )
  }
  expect(contentsOf(data.path('new'))).toBeUndefined()
})

test.each([
  [
    'of another log',
    OTHER_EVENTS,
    'log and store do not belong together: at offset 2 of partition 0 is event 01ZZZZ',
  ],
  [
    'that lacks an event in its middle',
    'DROP TRIGGER events_above_the_trim_mark_stay; DELETE FROM events WHERE offset = 1',
    'the log has 1 events, but its extent says 2',
  ],
  [
    'that a newer version has changed',
    'PRAGMA user_version = 1000',
    'schema version 1000, this program knows up to 1: another version of the program wrote it',
  ],
])('a log %s is rejected, and an empty folder stays empty', async (_what, sql, reason) => {
  await data.report(2, { projected: true })
  data.damage('data/log.sqlite', sql)
  mkdirSync(data.path('backup'))
  await expect(data.backUp()).rejects.toThrow(reason)
  expect(contentsOf(data.path('backup'))).toEqual({})
  expect(await lastBackupAt(data.path('data'))).toBeUndefined()
})
