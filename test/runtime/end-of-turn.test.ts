/** @node all */
import { expect, test } from '@jest/globals'
import {
  callAtEndOfTurn,
  endOfTurn,
  mapInTurns,
  yieldFairly,
  turnTaker,
} from '../../runtime/end-of-turn.ts'
import { countTurns } from '../count-turns.ts'

test('a turn of more than 10 ms ends, so that other work runs', async () => {
  const turnEnds = turnTaker()
  let others = 0
  setImmediate(() => (others += 1))
  for (const begin = performance.now(); performance.now() - begin < 11;);
  await turnEnds()
  expect(others).toBe(1)
})

test('tasks take turns, one per event-loop turn', async () => {
  const counter = countTurns()
  const done: string[] = []
  const turnsOfPieces: number[] = []
  const work = async (name: string) => {
    for (let piece = 1; piece <= 3; piece += 1) {
      await yieldFairly()
      done.push(name + piece)
      turnsOfPieces.push(counter.turns())
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  counter.stop()
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'])
  expect(new Set(turnsOfPieces).size).toBe(9)
})

test('a party with many tasks delays another by only one of them', async () => {
  const done: string[] = []
  const work = (party: string) => yieldFairly(party).then(() => done.push(party))
  const many = Array.from({ length: 4 }, () => work('a'))
  await Promise.all([...many, work('b'), work('c')])
  expect(done).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
})

test('calls due at the end of a turn run before work that has yielded', async () => {
  const done: string[] = []
  const work = yieldFairly().then(() => done.push('work'))
  const more = yieldFairly().then(() => done.push('more'))
  callAtEndOfTurn(() => done.push('due'))
  callAtEndOfTurn(() => done.push('cancelled'))()
  await work
  callAtEndOfTurn(() => done.push('due too'))
  await more
  await endOfTurn()
  expect(done).toEqual(['due', 'work', 'due too', 'more'])
})

test('a list is mapped in order, in turns of one millisecond each', async () => {
  const counter = countTurns()
  let longest = 0
  const list = Array.from({ length: 320 }, (_, number) => number)
  let inTurn = 0
  let turn = -1
  const mapped = await mapInTurns(list, (number, index) => {
    inTurn = counter.turns() === turn ? inTurn + 1 : 1
    turn = counter.turns()
    longest = Math.max(longest, inTurn)
    const until = performance.now() + 0.05
    while (performance.now() < until);
    return number + index
  })
  counter.stop()
  expect(mapped).toEqual(list.map((number) => 2 * number))
  // 32 take more than a millisecond.
  expect(longest).toBe(32)
})
