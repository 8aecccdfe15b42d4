import { expect, test } from '@jest/globals'
import { factsCsv } from '../../../console/core/facts-csv.ts'
import { METRIC } from '../../../console/core/measures.ts'
import type { ApiFact } from '../../../console/core/device-facts.ts'

const COMMON = { id: 'x', sequence: 1, decidedAt: '2026-01-01T00:00:00Z', inside: [] }
const FACTS = [
  {
    ...COMMON,
    type: 'rule.cleared',
    deviceId: 'van-12',
    at: '2026-11-20T22:34:05.000Z',
    rule: { id: 'fast', name: 'Too fast', revision: 1 },
    raisedAt: '2026-11-20T22:30:00.000Z',
    value: 30,
    seconds: 245,
    position: { latitude: 48.2, longitude: 16.4, speed: 10 },
  },
  {
    ...COMMON,
    type: 'geofence.entered',
    deviceId: '=van',
    at: '2026-11-20T10:00:00.000Z',
    geofence: { id: 'yard', name: 'Yard, north', revision: 1 },
  },
] as unknown as ApiFact[]

test('a file of events has the reader’s names, time zone and units', () => {
  const csv = factsCsv(FACTS, {
    nameOf: ({ deviceId }) => (deviceId === 'van-12' ? 'Van 12' : deviceId),
    rules: [{ id: 'fast', when: { field: 'speed', above: 25 } }],
    zone: 'Europe/Vienna',
    units: METRIC,
  })
  expect(csv.split('\r\n')).toEqual([
    'Time (Europe/Vienna),Device,Device id,Event,"Geofence, rule or alarm",Value,Lasted,"Speed, km/h",Latitude,Longitude',
    '2026-11-20 23:34:05,Van 12,van-12,Rule ended,Too fast,108 km/h,4 min,36,48.2,16.4',
    '2026-11-20 11:00:00,\'=van,\'=van,Geofence entered,"Yard, north",,,,,',
    '',
  ])
})
