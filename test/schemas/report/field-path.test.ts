import { expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { fieldPath } from '../../../schemas/report/field-path.ts'

test.each([
  ['latitude', ['latitude']],
  ['attributes.fuel', ['attributes', 'fuel']],
  ['attributes.a b', ['attributes', 'a b']],
  ['attributes[""]', ['attributes', '']],
  ['attributes["\\n"]', ['attributes', '\n']],
  ['names[""].x', ['names', '', 'x']],
  ['""', ['']],
  ['" "', [' ']],
  ['attributes.gps_…', ['attributes', newApiKey()]],
])('a message names a field as %s', (path, steps) => {
  expect(fieldPath(steps)).toBe(path)
})
