import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { dataBytes, freeBytes } from '../../../runtime/sqlite/disk-space.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const directory = directoryForEachTest()

test('the bytes of a data directory are those of its files', async () => {
  expect(await dataBytes(directory())).toBe(0)
  writeFileSync(join(directory(), 'log.sqlite'), Buffer.alloc(1_000))
  writeFileSync(join(directory(), 'log.sqlite-wal'), Buffer.alloc(10))
  mkdirSync(join(directory(), 'a folder'))
  expect(await dataBytes(directory())).toBe(1_010)
  expect(await freeBytes(directory())).toBeGreaterThan(1_000)
})
