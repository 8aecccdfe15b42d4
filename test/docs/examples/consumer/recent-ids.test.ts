import { expect, test } from '@jest/globals'
import { recentIds } from '../../../../docs/examples/consumer/recent-ids.ts'

test("an id is remembered until the limit's number of others has followed", () => {
  const ids = recentIds(3)
  for (const id of ['a', 'b', 'c']) ids.add(id, 'acc-1/van')
  expect(['a', 'b', 'c', 'd'].map((id) => ids.has(id))).toEqual([true, true, true, false])
  ids.add('d', 'acc-1/van')
  expect(['a', 'b', 'c', 'd'].map((id) => ids.has(id))).toEqual([false, true, true, true])
})

test('adding an id again displaces no other', () => {
  const ids = recentIds(2)
  for (const id of ['a', 'b', 'b', 'b']) ids.add(id, 'acc-1/van')
  expect(ids.has('a')).toBe(true)
})

test('forgetting a device forgets only its ids', () => {
  const ids = recentIds(10)
  ids.add('a', 'acc-1/van')
  ids.add('b', 'acc-1/van/2')
  ids.add('c', 'acc-1/van')
  ids.forget('acc-1/van')
  expect(['a', 'b', 'c'].map((id) => ids.has(id))).toEqual([false, true, false])
})
