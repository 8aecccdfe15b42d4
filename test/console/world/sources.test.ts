import { describe, expect, test } from '@jest/globals'
import type { Position } from 'geojson'
import { contains } from '../../../console/world/planar.ts'
import { readCountriesAt, land } from '../../../console/world/sources.ts'

describe.each(['110m', '50m', '10m'] as const)('the land at %s', (scale) => {
  const polygons = land(readCountriesAt(scale).areas).flatMap(
    ({ geometry }) => geometry.coordinates,
  )
  const isLand = (place: Position) =>
    polygons.some(([outer = [], ...holes]) => {
      return contains(outer, place) && !holes.some((hole) => contains(hole, place))
    })

  test.each([
    ['the Atlantic', -30, 30],
    ['the Pacific', -150, 0],
    ['the Mediterranean', 5, 40],
    ['the North Pole', 0, 89],
  ])('the land omits %s', (_sea, ...place) => expect(isLand(place)).toBe(false))

  test.each([
    ['Antarctica', 0, -85],
    ['Antarctica at 180°', -179.5, -85],
    ['Siberia', 100, 60],
    ['Siberia beyond 180°', -179, 67],
  ])('covers %s', (_land, ...place) => expect(isLand(place)).toBe(true))
})
