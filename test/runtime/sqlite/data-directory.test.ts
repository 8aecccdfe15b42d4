/** @node all */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import {
  dataBytes,
  freeBytes,
  lastBackupAt,
  noteBackup,
} from '../../../runtime/sqlite/data-directory.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()

test('the size of a data directory is the sum of its files', async () => {
  expect(await dataBytes(directory())).toBe(0)
  writeFileSync(join(directory(), 'log.sqlite'), Buffer.alloc(1_000))
  writeFileSync(join(directory(), 'log.sqlite-wal'), Buffer.alloc(10))
  mkdirSync(join(directory(), 'a folder'))
  expect(await dataBytes(directory())).toBe(1_010)
  expect(await freeBytes(directory())).toBeGreaterThan(1_000)
})

test('the newest recorded backup is returned, or none before the first or from a damaged file', async () => {
  expect(await lastBackupAt(directory())).toBeUndefined()
  await noteBackup(directory(), T0)
  await noteBackup(directory(), T0 + 1)
  expect(await lastBackupAt(directory())).toBe(T0 + 1)
  for (const damaged of ['', '{"at":"now"}', 'null']) {
    writeFileSync(join(directory(), 'last-backup.json'), damaged)
    expect(await lastBackupAt(directory())).toBeUndefined()
  }
})
