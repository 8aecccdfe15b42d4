import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { openPages, readPages, type PageBounds } from '../../../runtime/process/read-pages.ts'
import { countTurns } from '../../count-turns.ts'

/** The numbers up to `count` as a list, and the queries received. */
function listOf(count: number) {
  const queries: PageBounds<number>[] = []
  const read = async (page: PageBounds<number>) => {
    queries.push(page)
    const { limit, after = 0 } = page
    return Array.from({ length: Math.min(limit, count - after) }, (_, at) => after + at + 1)
  }
  return { queries, read }
}

test('a list is read up to the first page that is not full', async () => {
  const { queries, read } = listOf(5)
  expect(await Readable.from(readPages(2, read)).toArray()).toEqual([[1, 2], [3, 4], [5]])
  expect(queries).toEqual([{ limit: 2 }, { limit: 2, after: 2 }, { limit: 2, after: 4 }])
})

test('a list whose last page is full ends without an empty page', async () => {
  const { queries, read } = listOf(4)
  expect(await Readable.from(readPages(2, read)).toArray()).toEqual([
    [1, 2],
    [3, 4],
  ])
  expect(queries).toHaveLength(3)
})

test('an empty list has no pages', async () => {
  expect(await Readable.from(readPages(2, listOf(0).read)).toArray()).toEqual([])
})

test('each further page is read in a separate turn', async () => {
  const counter = countTurns()
  const { read } = listOf(5)
  const turns: number[] = []
  for await (const page of readPages(2, read)) {
    turns.push(counter.turns())
    expect(page).not.toEqual([])
  }
  counter.stop()
  expect(new Set(turns).size).toBe(3)
})

test('opening pages fails before the first page is requested', async () => {
  const unavailable = new Error('unavailable')
  await expect(openPages(2, () => Promise.reject(unavailable))).rejects.toBe(unavailable)
})

test('opened pages are read on request, the first page ahead', async () => {
  const { queries, read } = listOf(5)
  const pages = await openPages(2, read)
  expect(queries).toHaveLength(1)
  await pages.next()
  expect(queries).toHaveLength(1)
  await pages.next()
  expect(queries).toHaveLength(2)
})
