import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { lastBackupAt, noteBackup } from '../../../runtime/sqlite/last-backup.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()

test('the newest backup that was noted is known; none is known before, or from a damaged file', async () => {
  expect(await lastBackupAt(directory())).toBeUndefined()
  await noteBackup(directory(), T0)
  await noteBackup(directory(), T0 + 1)
  expect(await lastBackupAt(directory())).toBe(T0 + 1)
  for (const damaged of ['', '{"at":"now"}', 'null']) {
    writeFileSync(join(directory(), 'last-backup.json'), damaged)
    expect(await lastBackupAt(directory())).toBeUndefined()
  }
})
