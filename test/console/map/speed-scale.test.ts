import { expect, test } from '@jest/globals'
import { convertSpeed } from '../../../console/core/measures.ts'
import { SPEED_COLOURS, speedColour, speedStep } from '../../../console/map/speed-scale.ts'

test.each([
  [0, 'km/h', 1],
  [1.5, 'km/h', 2],
  [13.9, 'km/h', 15],
  [36.1, 'km/h', 30],
  [36.1, 'mph', 20],
  [36.1, 'knots', 15],
  [250, 'km/h', 200],
  [600, 'km/h', 432],
] as const)('colours up to %d m/s in %s are %d apart', (fastest, unit, step) => {
  expect(convertSpeed(unit, speedStep(fastest, unit))).toBeCloseTo(step)
})

test('a track has the first colour where the device is stationary and the last where it is fastest', () => {
  const step = speedStep(36.1, 'km/h')
  expect(speedColour(0, step)).toBe(SPEED_COLOURS[0])
  expect(speedColour(36.1, step)).toBe(SPEED_COLOURS[4])
  expect(speedColour(99, step)).toBe(SPEED_COLOURS[4])
})
