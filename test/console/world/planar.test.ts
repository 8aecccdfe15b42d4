import { expect, test } from '@jest/globals'
import { toPlanar } from '../../../console/world/planar.ts'

test('areas are cut at 180°', () => {
  const { coordinates } = toPlanar({
    type: 'Polygon',
    coordinates: [
      [
        [170, 10],
        [170, -10],
        [-170, -10],
        [-170, 10],
        [170, 10],
      ].reverse(),
    ],
  })
  expect(coordinates).toHaveLength(2)
  for (const [ring = []] of coordinates) {
    const longitudes = ring.map(([x = 0]) => x)
    expect(Math.max(...longitudes) - Math.min(...longitudes)).toBeCloseTo(10)
  }
})

test.each([false, true])(
  'areas keep their inside, whichever way the ring runs (reversed: %p)',
  (reversed) => {
    const ring = [
      [0, 0],
      [0, 10],
      [10, 10],
      [10, 0],
      [0, 0],
    ]
    const hole = [
      [4, 4],
      [6, 4],
      [6, 6],
      [4, 6],
      [4, 4],
    ]
    const rings = reversed ? [[...ring].reverse(), [...hole].reverse()] : [ring, hole]
    const { coordinates } = toPlanar({ type: 'Polygon', coordinates: rings })
    expect(coordinates).toHaveLength(1)
    expect(coordinates[0]).toHaveLength(2)
    const xs = coordinates.flat(2).map(([x = 0]) => x)
    expect([Math.min(...xs), Math.max(...xs)].map((x) => Math.round(x))).toEqual([0, 10])
  },
)
