import { expect, test } from '@jest/globals'
import {
  attributeName,
  attributeText,
  attributeTitle,
  sortAttributeNames,
  convertForPlot,
} from '../../../console/core/readings.ts'
import { METRIC, type Units } from '../../../console/core/measures.ts'

const ENGLISH: Units = { ...METRIC, locale: 'en' }

test.each([
  ['engineHours', 'Engine hours', 'Engine hours, h'],
  ['rssi', 'RSSI', 'RSSI, dBm'],
  ['ignition', 'Ignition', 'Ignition'],
  ['doorOpen', 'doorOpen', 'doorOpen'],
  ['constructor', 'constructor', 'constructor'],
])('%s is called %s, and its plot %s', (name, called, title) => {
  expect([attributeName(name), attributeTitle(name, ENGLISH)]).toEqual([called, title])
})

test('distances are plotted in kilometres or miles', () => {
  const miles: Units = { ...ENGLISH, length: 'feet' }
  expect([attributeTitle('odometer', ENGLISH), attributeTitle('odometer', miles)]).toEqual([
    'Odometer, km',
    'Odometer, mi',
  ])
  expect(convertForPlot('odometer', 120_500, ENGLISH)).toBe(120.5)
  expect(convertForPlot('odometer', 1_609.344, miles)).toBe(1)
  expect(convertForPlot('temp', 7, ENGLISH)).toBe(7)
  expect(convertForPlot('odometer', 'far', ENGLISH)).toBeUndefined()
})

test.each([
  ['temperature', 21.25, '21.25 °C'],
  ['odometer', 123_456_789, '123,456.8 km'],
  ['satellites', 11, '11'],
  ['ignition', false, 'no'],
  ['activity', 'driving', 'driving'],
  ['doors', 3, '3'],
])('the value of %s %p reads %s', (name, value, text) => {
  expect(attributeText(name, value, ENGLISH)).toBe(text)
})

test('an attribute that is a distance is shown in the chosen units', () => {
  expect(attributeText('odometer', 9_969, { ...ENGLISH, length: 'feet' })).toBe('6.2 mi')
})

test('attributes with an agreed meaning come first, each kind by name', () => {
  expect(sortAttributeNames(['zeta', 'fuel', 'alpha', 'alarm'])).toEqual([
    'alarm',
    'fuel',
    'alpha',
    'zeta',
  ])
})
