import { expect, test } from '@jest/globals'
import { circlesOf, placesOf } from '../../../console/core/places.ts'

const METRE = 1 / 111_195
const at = (north: number) => ({ latitude: 48 + north * METRE, longitude: 16 })

test('stops near each other form one place at the middle and with the name of the longest, sorted by hours', () => {
  const places = placesOf([
    { position: at(0), name: 'Customer', ms: 50 },
    { position: at(5_120), name: 'Town', ms: 10 },
    { position: at(5_000), name: 'Depot', ms: 60 },
  ])
  expect(places).toEqual([
    { position: at(5_000), name: 'Depot', ms: 70, stays: 2 },
    { position: at(0), name: 'Customer', ms: 50, stays: 1 },
  ])
})

test('circle areas are proportional to time, and a circle inside another is added to it', () => {
  const circles = circlesOf([
    { x: 100, y: 0, ms: 25 },
    { x: 3, y: 4, ms: 10 },
    { x: 0, y: 0, ms: 100 },
    { x: 300, y: 0, ms: 0.1 },
  ])
  expect(circles).toEqual([
    { x: 0, y: 0, ms: 110, radius: 26 },
    { x: 100, y: 0, ms: 25, radius: 13 },
    { x: 300, y: 0, ms: 0.1, radius: 5 },
  ])
  expect(circlesOf([])).toEqual([])
})
