import { expect, test } from '@jest/globals'
import { recentIds } from '../../../examples/consumer/recent-ids.ts'

test('an id is known until as many others as the limit have come after it', () => {
  const ids = recentIds(3)
  for (const id of ['a', 'b', 'c']) ids.add(id)
  expect(['a', 'b', 'c', 'd'].map((id) => ids.has(id))).toEqual([true, true, true, false])
  ids.add('d')
  expect(['a', 'b', 'c', 'd'].map((id) => ids.has(id))).toEqual([false, true, true, true])
})

test('an id that is added again takes no place from another', () => {
  const ids = recentIds(2)
  for (const id of ['a', 'b', 'b', 'b']) ids.add(id)
  expect(ids.has('a')).toBe(true)
})
