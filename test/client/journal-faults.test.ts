import * as real from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, jest, test } from '@jest/globals'
import { directoryForEachTest } from '../directory-for-each-test.ts'

/** Number of times that syncing a folder fails. */
let refusals = 0

jest.unstable_mockModule('node:fs/promises', () => ({
  ...real,
  open(path: string, ...rest: []) {
    if (path === dirname(file) && (refusals -= 1) >= 0) throw new Error('EIO')
    return real.open(path, ...rest)
  },
}))
const { Journal } = await import('../../client/journal.ts')

const directory = directoryForEachTest()
let file: string

beforeEach(() => {
  file = join(directory(), 'queue')
})

const line = (n: number) => JSON.stringify({ n, padding: 'x'.repeat(1_000_000) })

test('a journal whose compaction fails after the rename keeps later lines', async () => {
  const journal = await Journal.open(file)
  await journal.append([1, 2, 3, 4, 5, 6].map(line))
  const entries = await journal.first({ most: 5, mostBytes: Infinity })
  refusals = 2
  await expect(journal.settle(5, entries.at(-1)!)).rejects.toThrow('EIO')
  // Nothing is acknowledged before the file's name is on disk.
  await expect(journal.append([line(7)])).rejects.toThrow('EIO')
  await journal.append([line(8)])
  await journal.close()

  const again = await Journal.open(file)
  const waiting = await again.first({ most: 9, mostBytes: Infinity })
  expect(waiting.map(({ json }) => (json as { n: number }).n)).toEqual([6, 8])
  await again.close()
})
