import { expect, test } from '@jest/globals'
import { placeText, wayText } from '../../../console/core/place-words.ts'

const quarter = { name: 'Innere Stadt', region: 'Graz', distanceMetres: 400 }
const depot = { name: 'Depot', region: 'Graz', distanceMetres: 0, geofenceId: 'one' }

test('a quarter is named with its city, and a geofence by its own name', () => {
  expect(placeText(quarter)).toBe('Innere Stadt, Graz')
  expect(placeText(depot)).toBe('Depot')
  expect(placeText({ name: 'Linz', distanceMetres: 9 })).toBe('Linz')
  expect(placeText(null)).toBeUndefined()
})

test('a trip has both ends, or the known one', () => {
  expect(wayText(depot, quarter)).toBe('Depot → Innere Stadt, Graz')
  expect(wayText(quarter, quarter)).toBe('Innere Stadt, Graz')
  expect(wayText(null, depot)).toBe('Depot')
  expect(wayText(null, null)).toBe('')
})
