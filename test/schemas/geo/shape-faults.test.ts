import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { faultsOfPolygons } from '../../../schemas/geo/shape-faults.ts'
import {
  MOST_VERTICES,
  type LonLat,
  type PolygonRing,
} from '../../../schemas/definitions/geofence.ts'
import { ring } from './ring.ts'

const FIELD = 'shape.coordinates'
const SQUARE: PolygonRing = ring('0 0, 10 0, 10 10, 0 10, 0 0')

const fault = (...rings: readonly PolygonRing[]) => faultsOfPolygons([{ field: FIELD, rings }])

test.each<[string, readonly PolygonRing[], string, RegExp]>([
  [
    'an open ring',
    [ring('0 0, 10 0, 10 10')],
    '[0][2]',
    /must be closed: its last position must equal the first/,
  ],
  ['an empty ring', [[]], '[0][0]', /must be closed/],
  [
    'a ring of two points',
    [ring('0 0, 10 0, 0 0, 10 0, 0 0')],
    '[0]',
    /must have at least three different positions/,
  ],
  [
    'a bow tie',
    [ring('0 0, 10 10, 10 0, 0 10, 0 0')],
    '[0][2]',
    /must not meet: a ring must not cross or touch itself/,
  ],
  [
    'a ring that touches itself',
    [ring('0 0, 10 0, 5 5, 10 10, 0 10, 5 5, 0 0')],
    '[0][4]',
    /must not meet: a ring must not cross or touch itself/,
  ],
  [
    'a spike',
    [ring('0 0, 10 0, 20 0, 10 0, 10 10, 0 0')],
    '[0][2]',
    /must not meet: a ring must not cross or touch itself/,
  ],
  [
    'a ring around the north pole',
    [ring('0 80, 120 80, -120 80, 0 80')],
    '[0]',
    /must not go around a pole/,
  ],
  [
    'an edge of half a turn',
    [ring('0 0, 180 0, 90 50, 0 0')],
    '[0][0]',
    /must go less than 180° to the east or west/,
  ],
  [
    'more than half a turn',
    [ring('-100 0, 0 0, 100 0, 100 10, 0 10, -100 10, -100 0')],
    '[0][2]',
    /must not be wider than 180°/,
  ],
  [
    'a hole outside',
    [SQUARE, ring('20 20, 21 20, 21 21, 20 20')],
    '[1][0]',
    /must be inside the outer ring, of which it is a hole/,
  ],
  [
    'a hole that leaves',
    [ring('0 0, 10 0, 10 10, 5 2, 0 10, 0 0'), ring('1 5, 1 1, 9 1, 9 5, 1 5')],
    '[1][3]',
    /must not leave the outer ring/,
  ],
])('%s is rejected, naming the vertex', (_what, rings, vertex, message) => {
  expect(fault(...rings).map(({ field }) => field)).toEqual([`${FIELD}${vertex}`])
  expect(fault(...rings)[0]?.message).toMatch(message)
})

test('a ring, also across 180°, may have a hole that touches it at a point, and repeated points', () => {
  const hole: PolygonRing = ring('0 5, 5 4, 5 6, 0 5')
  expect(fault(ring('0 0, 0 0, 10 0, 10 10, 0 10, 0 10, 0 0'), hole)).toEqual([])
  const fiji: PolygonRing = ring('177 -20, -178 -20, -178 -15, 177 -15, 177 -20')
  expect(fault(fiji, ring('-179.5 -18, -179 -18, -179 -17, -179.5 -18'))).toEqual([])
})

test('every faulty ring is named', () => {
  const open: PolygonRing = ring('0 0, 10 0, 10 10')
  const polygons = [
    { field: `${FIELD}[0]`, rings: [SQUARE, open] },
    { field: `${FIELD}[1]`, rings: [open] },
  ]
  expect(faultsOfPolygons(polygons).map(({ field }) => field)).toEqual([
    `${FIELD}[0][1][2]`,
    `${FIELD}[1][0][2]`,
  ])
})

test('a shape has at most 1000 vertices, the closing ones not counted', () => {
  const ring = (corners: number): PolygonRing => {
    const all = Array.from({ length: corners }, (_, n): LonLat => {
      const turn = (2 * Math.PI * n) / corners
      return [Math.cos(turn), Math.sin(turn)]
    })
    return [...all, all[0] as LonLat]
  }
  expect(fault(ring(MOST_VERTICES))).toEqual([])
  const message = 'the shape must have at most 1000 vertices, and has 1001'
  expect(fault(ring(MOST_VERTICES + 1))).toEqual([{ field: FIELD, message }])
})

test('a ring is rejected exactly if two non-adjacent edges meet', () => {
  const corner = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }))
  fc.assert(
    fc.property(
      fc.uniqueArray(corner, { minLength: 4, maxLength: 7, selector: String }),
      (corners) => {
        const ring: PolygonRing = [...corners, corners[0] as LonLat]
        const edges = corners.map((from, n) => [from, ring[n + 1] as LonLat] as const)
        const meet = edges.some(([a, b], n) =>
          edges.some(([c, d], m) => {
            const shared = m === n + 1 || (n === 0 && m === edges.length - 1)
            if (m <= n) return false
            const points = pointsInCommon([a, b], [c, d])
            return shared ? points > 1 : points > 0
          }),
        )
        expect(fault(ring).length > 0).toBe(meet)
      },
    ),
    { numRuns: 1_000 },
  )
})

type Segment = readonly [LonLat, LonLat]

/** 0, 1, or 2 for more, in integer arithmetic without rounding. */
function pointsInCommon([p, q]: Segment, [r, s]: Segment): number {
  const [dx, dy, ex, ey] = [q[0] - p[0], q[1] - p[1], s[0] - r[0], s[1] - r[1]]
  const across = dx * ey - dy * ex
  const [wx, wy] = [r[0] - p[0], r[1] - p[1]]
  if (across !== 0) {
    const [t, u] = [wx * ey - wy * ex, wx * dy - wy * dx].map((n) => n * Math.sign(across))
    const most = Math.abs(across)
    return t! >= 0 && t! <= most && u! >= 0 && u! <= most ? 1 : 0
  }
  if (wx * dy - wy * dx !== 0) return 0
  const along = ([x, y]: LonLat) => (x - p[0]) * dx + (y - p[1]) * dy
  const [from, to] = [along(r), along(s)].sort((a, b) => a - b) as [number, number]
  const [low, high] = [Math.max(0, from), Math.min(along(q), to)]
  if (low > high) return 0
  return low === high ? 1 : 2
}

test('a comb of long teeth with overlapping boxes is a valid ring; a tooth across the others is a fault', () => {
  const teeth = Array.from({ length: 499 }, (_, n): LonLat[] => [
    [n / 1000, 0],
    [n / 1000 + 5.0005, 10],
  ]).flat()
  const comb: PolygonRing = [...teeth, [1, -1], [-1, -1], [0, 0]]
  expect(fault(comb)).toEqual([])
  const crossed = [...comb.slice(0, 500), [0, 5] as const, ...comb.slice(501)]
  expect(fault(crossed)).toMatchObject([
    { message: expect.stringContaining('must not meet') as unknown },
  ])
})
