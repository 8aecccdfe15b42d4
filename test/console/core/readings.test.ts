import { expect, test } from '@jest/globals'
import { fieldName, readingText } from '../../../console/core/readings.ts'
import { METRIC } from '../../../console/core/measures.ts'

const units = { ...METRIC, locale: 'en' }

test.each([
  ['speed', 25, 'Speed', '90 km/h'],
  ['battery', 0.2, 'Battery', '20 %'],
  ['altitude', 1_820, 'Altitude', '1,820 m'],
  ['accuracy', 12, 'Accuracy', '12 m'],
  ['heading', 90.4, 'Heading', '90°'],
  ['temperature', -15, 'Temperature', '-15 °C'],
  ['ignition', true, 'Ignition', 'yes'],
  ['door', 'open', 'door', 'open'],
])('%s of %p is called %s and reads %s', (field, value, name, text) => {
  expect([fieldName(field), readingText(field, value, units)]).toEqual([name, text])
})
