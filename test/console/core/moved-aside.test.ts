import { expect, test } from '@jest/globals'
import { movedAside } from '../../../console/core/moved-aside.ts'

test.each([
  ['too near', { x: 3, y: 4 }, { x: 6, y: 8 }],
  ['far enough', { x: 30, y: 4 }, { x: 30, y: 4 }],
  ['at the same spot', { x: 0, y: 0 }, { x: -10, y: 0 }],
])('a spot that is %s', (_, spot, moved) => {
  expect(movedAside(spot, { x: 0, y: 0 }, 10)).toEqual(moved)
})
