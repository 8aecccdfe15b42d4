import { expect, test } from '@jest/globals'
import { splitIntoChunks, labelChanges, undoLabels } from '../../../console/core/label-changes.ts'

test('only labels that differ from the choice are added and removed', () => {
  const devices = [{ labels: ['a', 'b'] }, { labels: ['a', 'c'] }]
  const choices = new Map([
    ['a', 'all'],
    ['b', 'all'],
    ['c', 'none'],
    ['d', 'none'],
  ] as const)
  expect(labelChanges(devices, choices)).toEqual({ add: ['b'], remove: ['c'] })
})

test('undoing a change leaves labels that a device had before, and restores only the lost ones', () => {
  const before = [
    { deviceId: 'both', labels: ['new', 'old'] },
    { deviceId: 'lost', labels: ['old'] },
    { deviceId: 'lost too', labels: ['old', 'other'] },
    { deviceId: 'got', labels: [] },
    { deviceId: 'unchanged', labels: ['new'] },
  ]
  expect(undoLabels(before, { add: ['new'], remove: ['old'] })).toEqual([
    { add: ['old'], remove: [], deviceIds: ['both'] },
    { add: ['old'], remove: ['new'], deviceIds: ['lost', 'lost too'] },
    { add: [], remove: ['new'], deviceIds: ['got'] },
  ])
})

test('many devices are divided among calls, the last of which may have fewer', () => {
  expect(splitIntoChunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(splitIntoChunks([], 2)).toEqual([])
})
