import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  bytesText,
  countText,
  distanceText,
  convertLength,
  lengthText,
  numberText,
  scaleFor,
  convertSpeed,
  speedText,
  type Units,
} from '../../../console/core/measures.ts'

const METRIC: Units = { speed: 'km/h', length: 'metres', locale: 'en' }
const FEET: Units = { ...METRIC, length: 'feet' }

test.each([
  ['km/h', 10, '36 km/h'],
  ['mph', 10, '22 mph'],
  ['knots', 10, '19 kn'],
  ['km/h', 0, '0 km/h'],
] as const)('in %s, %d m/s are %s', (speed, metresPerSecond, text) => {
  expect(speedText(metresPerSecond, { ...METRIC, speed })).toBe(text)
})

test.each([
  [0, '0 m', '0 ft'],
  [969, '969 m', '0.6 mi'],
  [999.4, '999 m', '0.6 mi'],
  [999.6, '1.0 km', '0.6 mi'],
  [9_969, '10.0 km', '6.2 mi'],
  [322_000, '322.0 km', '200.1 mi'],
  [1_234_567, '1,234.6 km', '767.1 mi'],
])('a distance of %d m is %s, or %s', (metres, metric, feet) => {
  expect([distanceText(metres, METRIC), distanceText(metres, FEET)]).toEqual([metric, feet])
})

test.each([
  [0, '0 reports'],
  [1, '1 report'],
  [1_200, '1,200 reports'],
])('the word for %d things has the right form: %s', (count, text) => {
  expect(countText(count, 'report', METRIC)).toBe(text)
  expect(countText(count, 'entry', METRIC, 'entries')).toBe(
    text.replace('reports', 'entries').replace('report', 'entry'),
  )
})

test('a height stays in metres or feet, however high, and may be below zero', () => {
  expect(lengthText(8_848.86, METRIC)).toBe('8,849 m')
  expect(lengthText(8_848.86, FEET)).toBe('29,032 ft')
  expect(lengthText(-12, METRIC)).toBe('-12 m')
  expect(lengthText(-0.3, METRIC)).toBe('0 m')
})

test('numbers follow the language, units are English', () => {
  const german = { ...METRIC, locale: 'de' }
  expect(speedText(1_000, { ...german, speed: 'mph' })).toBe('2.237 mph')
  expect(lengthText(10, { ...german, length: 'feet' })).toBe('33 ft')
  expect(distanceText(1_234_567, german)).toBe('1.234,6 km')
  expect(numberText(12_345, german)).toBe('12.345')
  expect(numberText(12_345, METRIC)).toBe('12,345')
})

test('an absent measurement has no text', () => {
  expect([speedText(undefined), lengthText(undefined), distanceText(undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a longer distance never reads as shorter, nor as more than 1000 metres', () => {
  const metres = fc.double({ min: 0, max: 2_000_000, noNaN: true })
  fc.assert(
    fc.property(metres, metres, (one, other) => {
      const told = (way: number) => {
        const text = (distanceText(way, METRIC) ?? '').replaceAll(',', '')
        return parseFloat(text) * (text.endsWith(' km') ? 1_000 : 1)
      }
      expect(told(Math.min(one, other))).toBeLessThanOrEqual(told(Math.max(one, other)))
      expect(Math.abs(told(one) - one)).toBeLessThanOrEqual(one < 999.5 ? 0.5 : 50.001)
    }),
  )
})

test('plots get plain numbers', () => {
  expect(convertSpeed('mph', 10)).toBeCloseTo(22.369)
  expect(convertLength('feet', 100)).toBeCloseTo(328.084)
  expect(convertLength('metres', 100)).toBe(100)
})

test.each([
  [0, '0 byte'],
  [999, '999 byte'],
  [605_416, '605 kB'],
  [75_188_088_832, '75.2 GB'],
  [3.44e15, '3,440.0 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes, METRIC)).toBe(text)
})

test.each([
  [156_543, { text: '20,000 km', pixels: 128 }],
  [76.4, { text: '10 km', pixels: 131 }],
  [0.6, { text: '50 m', pixels: 83 }],
])('where a pixel is %d m long the scale is %j', (metresPerPixel, scale) => {
  expect(scaleFor(metresPerPixel, METRIC)).toEqual(scale)
})

test.each([
  [76.4, { text: '5 mi', pixels: 105 }],
  [0.6, { text: '200 ft', pixels: 102 }],
])('in feet and miles, where a pixel is %d m long it is %j', (metresPerPixel, scale) => {
  expect(scaleFor(metresPerPixel, FEET)).toEqual(scale)
})

test('a scale is never wider than 150 pixels, nor shorter than its text', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 200_000, noNaN: true }), (metresPerPixel) => {
      const { pixels } = scaleFor(metresPerPixel)
      expect(pixels).toBeLessThanOrEqual(150)
      expect(pixels).toBeGreaterThanOrEqual(60)
    }),
  )
})
