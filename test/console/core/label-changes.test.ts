import { expect, test } from '@jest/globals'
import { inChunks, labelChanges } from '../../../console/core/label-changes.ts'

test('only labels that are not yet as chosen are added and removed', () => {
  const devices = [{ labels: ['a', 'b'] }, { labels: ['a', 'c'] }]
  const choices = new Map([
    ['a', 'all'],
    ['b', 'all'],
    ['c', 'none'],
    ['d', 'none'],
  ] as const)
  expect(labelChanges(devices, choices)).toEqual({ add: ['b'], remove: ['c'] })
})

test('many devices are divided among calls, the last of which may have fewer', () => {
  expect(inChunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(inChunks([], 2)).toEqual([])
})
