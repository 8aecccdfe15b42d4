import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parsePositionReport } from '../../schemas/report/position-report.ts'
import { RANGES } from '../../schemas/report/report-fields.ts'
import { T0 } from '../samples.ts'

const page = readFileSync(new URL('../../docs/reporting.md', import.meta.url), 'utf8')
const good = { deviceId: 'van', latitude: 1, longitude: 2 }
const read = (fields: object) => parsePositionReport({ ...good, ...fields }, { now: T0 })

test('docs/reporting.md states the bounds of the fields', () => {
  for (const name of ['latitude', 'longitude', 'altitude'] as const) {
    expect(page).toContain(`${name} ${RANGES[name].join(' to ')}`)
  }
  for (const name of ['accuracy', 'speed'] as const) expect(RANGES[name][0]).toBe(0)
  expect(page).toContain('accuracy and speed are 0 or\nmore')
})

test('docs/reporting.md explains how times and null are interpreted', () => {
  expect(read({ timestamp: '2025-06-01T12:00:00' })).toEqual(
    read({ timestamp: '2025-06-01T12:00:00Z' }),
  )
  expect(page).toContain('A `timestamp` without a zone is UTC')
  const day = 86_400_000
  const refused = ['2025-06-01', T0, '1999-12-31T23:59:59Z', new Date(T0 + day + 1).toISOString()]
  for (const timestamp of refused) expect(read({ timestamp })).toHaveProperty('faults')
  expect(read({ timestamp: null, speed: null })).toHaveProperty('report')
  expect(read({ latitude: null })).toHaveProperty('faults')
})
