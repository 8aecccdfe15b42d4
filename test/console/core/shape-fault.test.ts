import { expect, test } from '@jest/globals'
import { shapeFaultText } from '../../../console/core/shape-fault.ts'
import { parseShape } from '../../../schemas/geo/parse-shape.ts'
import { ring } from '../../schemas/geo/ring.ts'

function faultOf(shape: object): string {
  const parsed = parseShape(shape, 'shape')
  return 'faults' in parsed ? shapeFaultText(parsed.faults[0]!.message) : ''
}

test('edges that cross are named by their corners', () => {
  const bowTie = ring('0 0, 1 1, 1 0, 0 1, 0 0')
  expect(faultOf({ type: 'Polygon', coordinates: [bowTie] })).toBe(
    'The edges after corner 1 and after corner 3 cross or touch: move a corner.',
  )
})

test('a point without a radius in a file gets a message that says what it needs', () => {
  expect(faultOf({ type: 'circle', latitude: 1, longitude: 1 })).toBe(
    'A point needs a property radius: a number of metres, from 10 to 1,000,000.',
  )
})

test('every fault of a shape is reworded for the console', () => {
  const narrow = ring('0 0, 1 0, 0 0, 0 0')
  expect(faultOf({ type: 'Polygon', coordinates: [narrow] })).toBe(
    'The outline must have at least three different positions.',
  )
  expect(shapeFaultText('shape.latitude must be a number')).toBe('The latitude must be a number.')
})
