import { expect, test } from '@jest/globals'
import { idFor } from '../../../../console/pages/connect/id-for.ts'

test.each([
  ['Anna’s phone', 'annas-phone'],
  ["Anna's phone", 'annas-phone'],
  ['  Van 7 ', 'van-7'],
  ['Übergabe/Wagen (2)', 'ubergabe-wagen-2'],
  ['Фургон 12', 'фургон-12'],
  ['配送車', '配送車'],
  ['🚚', ''],
  ['', ''],
])('the name %s gives the id %s', (name, id) => {
  expect(idFor(name)).toBe(id)
})

test('a long name gives an id that fits', () => {
  expect(idFor('very long '.repeat(10)).length).toBeLessThanOrEqual(64)
})
