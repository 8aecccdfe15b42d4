import { expect, test } from '@jest/globals'
import { limitChunksPerTurn } from '../../../admin-api/stream/seats.ts'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'

test('a few readers work in one event-loop turn, in order', async () => {
  const nextTurn = limitChunksPerTurn(3)
  const worked: number[] = []
  const readers = Array.from({ length: 8 }, async (_, reader) => {
    await nextTurn()
    worked.push(reader)
  })
  const seen: number[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    await endOfTurn()
    seen.push(worked.length)
  }
  await Promise.all(readers)
  // Three immediately, and three as the turn ends.
  expect(seen).toEqual([6, 8, 8, 8])
  expect(worked).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('a reader that asks again waits behind the others', async () => {
  const nextTurn = limitChunksPerTurn(2)
  const worked: string[] = []
  const work = async (reader: string) => {
    for (let chunk = 0; chunk < 3; chunk += 1) {
      await nextTurn()
      worked.push(reader)
    }
  }
  await Promise.all([work('a'), work('b'), work('c')])
  expect(worked).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
})

test('a single reader works repeatedly in one turn, and continues in the next', async () => {
  const nextTurn = limitChunksPerTurn(4)
  let turns = 0
  const count = () => {
    turns += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const at: number[] = []
  for (let chunk = 0; chunk < 8; chunk += 1) {
    await nextTurn()
    at.push(turns)
  }
  clearImmediate(counting)
  expect(new Set(at).size).toBe(2)
})
