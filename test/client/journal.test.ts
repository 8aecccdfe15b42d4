/** @node all */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Journal } from '../../client/journal.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'

const directory = directoryForEachTest()
let file: string

beforeEach(() => {
  file = join(directory(), 'queue')
})

const line = (n: number, padding = '') => JSON.stringify({ n, padding })
const everything = { most: Infinity, mostBytes: Infinity }

async function waitingIn(journal: Journal): Promise<number[]> {
  return (await journal.first(everything)).map(({ json }) => (json as { n: number }).n)
}

test('a journal returns as many lines as requested, in order, until they are settled', async () => {
  const journal = await Journal.open(file)
  await journal.append([line(1), line(2)])
  await journal.append([line(3)])
  expect(await waitingIn(journal)).toEqual([1, 2, 3])
  const [one, two] = await journal.first({ most: 2, mostBytes: Infinity })
  expect(await journal.first({ most: 9, mostBytes: 1 })).toEqual([one])
  await journal.settle(2, two!)
  expect(await waitingIn(journal)).toEqual([3])
  expect(journal.size).toBe(1)
  await journal.close()
  const again = await Journal.open(file)
  expect([again.size, await waitingIn(again)]).toEqual([1, [3]])
  await again.close()
})

test('a journal is an empty file once everything is settled', async () => {
  const journal = await Journal.open(file)
  await journal.append([line(1)])
  await journal.settle(1, (await journal.first(everything))[0]!)
  expect(await readFile(file, 'utf8')).toBe('')
  await journal.append([line(2)])
  expect(await waitingIn(journal)).toEqual([2])
  await journal.close()
})

test('a journal that never empties drops settled lines', async () => {
  const journal = await Journal.open(file)
  const padding = 'é'.repeat(5_000)
  for (let n = 0; n < 1_000; n += 1) {
    await journal.append([line(n, padding)])
    if (n % 10 !== 9) continue
    const entries = await journal.first({ most: 9, mostBytes: Infinity })
    await journal.settle(entries.length, entries.at(-1)!)
  }
  expect((await readFile(file)).length).toBeLessThan(6_000_000)
  expect(await waitingIn(journal)).toEqual(Array.from({ length: 100 }, (_, i) => 900 + i))
  await journal.close()
  const again = await Journal.open(file)
  expect(again.size).toBe(100)
  expect((await waitingIn(again)).slice(-1)).toEqual([999])
  await again.close()
})

test('a journal skips a line garbled by a power cut', async () => {
  await writeFile(file, `${line(1)}\n\0\0\0\0"n":2}\n999999\n${line(3)}\n{"n":`)
  const journal = await Journal.open(file)
  expect(await waitingIn(journal)).toEqual([1, 3])
  await journal.append([line(4)])
  await journal.close()
  const again = await Journal.open(file)
  expect(await waitingIn(again)).toEqual([1, 3, 4])
  await again.close()
})

test('a journal killed at any byte of any write has every line that it accepted and no others', async () => {
  const step = fc.oneof(
    fc.record({ append: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ settle: fc.integer({ min: 1, max: 6 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(), async (steps, cutAt) => {
      await writeFile(file, '')
      const journal = await Journal.open(file)
      let taken = 0
      let settled = 0
      let before = { bytes: await readFile(file), taken }
      for (const step of steps) {
        before = { bytes: await readFile(file), taken }
        if ('append' in step) {
          await journal.append(Array.from({ length: step.append }, (_, i) => line(taken + i)))
          taken += step.append
        } else {
          const entries = await journal.first({ most: step.settle, mostBytes: Infinity })
          if (entries.length > 0) await journal.settle(entries.length, entries.at(-1)!)
          settled += entries.length
        }
      }
      await journal.close()
      // The last write is cut anywhere; a truncation is all or nothing.
      const after = await readFile(file)
      const more = after.length - before.bytes.length
      if (more > 0) {
        await writeFile(file, after.subarray(0, before.bytes.length + (cutAt % (more + 1))))
      }
      const again = await Journal.open(file)
      const found = await waitingIn(again)
      expect(again.size).toBe(found.length)
      await again.append([line(-1)])
      await again.close()
      const later = await Journal.open(file)
      expect(await waitingIn(later)).toEqual([...found, -1])
      await later.close()
      const [first = 0] = found
      expect(found).toEqual(Array.from({ length: found.length }, (_, i) => first + i))
      const due = Array.from({ length: before.taken }, (_, n) => n).slice(settled)
      expect(found).toEqual(expect.arrayContaining(due))
    }),
    { numRuns: 150 },
  )
})
