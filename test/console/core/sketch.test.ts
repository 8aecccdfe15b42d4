import { expect, test } from '@jest/globals'
import {
  canFinish,
  clickSketch,
  dragHandle,
  closeSketch,
  handlesOf,
  NEW_AREA,
  NEW_CIRCLE,
  parseCorners,
  formatCorners,
  ringsOf,
  buildShape,
  shapeText,
  sketchOf,
  removeCorner,
  type Sketch,
} from '../../../console/core/sketch.ts'
import { parseShape } from '../../../schemas/geo/parse-shape.ts'
import { metresBetween } from '../../../schemas/geo/distance.ts'
import { METRIC } from '../../../console/core/measures.ts'
import { ring } from '../../schemas/geo/ring.ts'

const SQUARE = {
  type: 'Polygon',
  coordinates: [ring('16 48, 17 48, 17 49, 16 49, 16 48')],
} as const
const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 } as const

const handle = (sketch: Sketch, kind: string, index = 0) =>
  handlesOf(sketch).find((one) => one.kind === kind && one.index === index)!

function drawn(...corners: readonly (readonly [number, number])[]): Sketch {
  return corners.reduce<Sketch>((sketch, corner) => clickSketch(sketch, corner), NEW_AREA)
}

test.each([
  ['a circle', CIRCLE],
  ['a polygon', SQUARE],
  [
    'areas with a hole',
    {
      type: 'MultiPolygon',
      coordinates: [
        [...SQUARE.coordinates, ring('16.4 48.4, 16.6 48.4, 16.5 48.6, 16.4 48.4')],
        [ring('20 10, 21 10, 21 11, 20 10')],
      ],
    },
  ],
] as const)('%s that is opened and not edited does not change', (_, shape) => {
  expect(buildShape(sketchOf(shape))).toEqual(shape)
})

test('three clicks and finishing draw a polygon that the service accepts', () => {
  const open = drawn([16, 48], [17, 48], [17, 49])
  expect(canFinish(drawn([16, 48], [17, 48]))).toBe(false)
  expect(canFinish(open)).toBe(true)
  const shape = buildShape(closeSketch(open))
  expect(shape).toEqual({
    type: 'Polygon',
    coordinates: [ring('16 48, 17 48, 17 49, 16 48')],
  })
  expect(parseShape(shape, 'shape')).toEqual({ made: shape })
})

test('corners can be dragged, and dragging an edge adds one', () => {
  const square = sketchOf(SQUARE)
  const moved = dragHandle(square, handle(square, 'corner', 2), [17.5, 49.5])
  expect(formatCorners(ringsOf(moved)[0]!)).toBe('48, 16\n48, 17\n49.5, 17.5\n49, 16')
  const pulled = dragHandle(square, handle(square, 'between', 0), [16.5, 47])
  expect(formatCorners(ringsOf(pulled)[0]!)).toBe('48, 16\n47, 16.5\n48, 17\n49, 17\n49, 16')
})

test('the filled point moves the whole', () => {
  const square = sketchOf(SQUARE)
  const whole = handlesOf(square).at(-1)!
  expect(whole).toMatchObject({ kind: 'whole', at: [16.5, 48.5] })
  const moved = dragHandle(square, whole, [17.5, 48])
  expect(formatCorners(ringsOf(moved)[0]!)).toBe('47.5, 17\n47.5, 18\n48.5, 18\n48.5, 17')
})

test('dragging the edge of a circle sets its radius, within the limits of the service', () => {
  const circle = sketchOf(CIRCLE)
  const edge = handle(circle, 'edge')
  expect(metresBetween(CIRCLE, { longitude: edge.at[0], latitude: edge.at[1] })).toBeCloseTo(200)
  expect(buildShape(dragHandle(circle, edge, [16.4, 48.21]))).toEqual({ ...CIRCLE, radius: 1_112 })
  expect(buildShape(dragHandle(circle, edge, [16.4, 48.2]))).toEqual({ ...CIRCLE, radius: 10 })
  expect(buildShape(dragHandle(circle, edge, [100, 48.2]))).toEqual({
    ...CIRCLE,
    radius: 1_000_000,
  })
})

test('a circle is drawn with its radius in all directions, near a pole too', () => {
  const north = sketchOf({ ...CIRCLE, latitude: 80, radius: 100_000 })
  for (const [longitude, latitude] of ringsOf(north)[0]!) {
    const metres = metresBetween({ longitude: 16.4, latitude: 80 }, { longitude, latitude })
    expect(metres).toBeCloseTo(100_000, 0)
  }
})

test('a corner is removed, but a ring keeps three', () => {
  const triangle = removeCorner(sketchOf(SQUARE), 1)
  expect(formatCorners(ringsOf(triangle)[0]!)).toBe('48, 16\n49, 17\n49, 16')
  expect(removeCorner(triangle, 0)).toEqual(triangle)
})

test('a shape drawn beyond 180° is stored within it', () => {
  const shape = buildShape(closeSketch(drawn([179, 10], [182, 10], [182, 12])))
  expect(shape).toMatchObject({
    coordinates: [ring('179 10, -178 10, -178 12, 179 10')],
  })
  const whole = handlesOf(sketchOf(shape!)).at(-1)!
  expect(whole.at[0]).toBeCloseTo(181)
})

test('a circle without a centre, or two corners, is not a shape', () => {
  expect(buildShape(NEW_CIRCLE)).toBeUndefined()
  expect(buildShape(drawn([16, 48], [17, 48]))).toBeUndefined()
})

test.each([
  ['48.2, 16.4', [[16.4, 48.2]]],
  [
    '48.2 16.4\n\n -33;151.2 ',
    [
      [16.4, 48.2],
      [151.2, -33],
    ],
  ],
  ['', []],
  ['north', undefined],
  ['48.2', undefined],
  ['91, 16', undefined],
  ['48.2, 16.4, 3', undefined],
])('the text %j is these points', (text, places) => {
  expect(parseCorners(text)).toEqual(places)
})

test('shapes have a size in words', () => {
  const units = { ...METRIC, locale: 'en' }
  expect(shapeText(CIRCLE, units)).toBe('Circle of 200 m')
  expect(shapeText(SQUARE, units)).toBe('4 corners')
  const two = {
    type: 'MultiPolygon',
    coordinates: [SQUARE.coordinates, SQUARE.coordinates],
  } as const
  expect(shapeText(two, units)).toBe('2 areas, 8 corners')
})
