import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { judgePoint } from '../../../../ingest-api/apps/submitted-reports.ts'
import { reportOf } from '../../../../schemas/formats/histories/report-of.ts'
import { parseTime } from '../../../../schemas/formats/values.ts'
import { parseImportedReport } from '../../../../schemas/report/position-report.ts'

const NOW = Date.UTC(2027, 0, 1)
const MOST_BYTES = 10_000

const anyText = fc.oneof(
  fc.string(),
  fc.constantFrom('1', ' 1', '-0', '1e2', '1,5', '2024-01-01T00:00:00Z', '9'.repeat(100_000)),
)
const anyValue = fc.oneof(
  anyText,
  fc.double(),
  fc.integer({ min: -200, max: 200 }),
  fc.constantFrom(undefined, null, [], {}, [1], 1_700_000_000, 1e300, NaN),
)
const anyTime = fc.oneof(
  anyValue,
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ min: new Date(0), max: new Date(NOW), noInvalidDate: true }).map(Number),
)
const anyPoint = fc.record({
  deviceId: fc.oneof({ weight: 3, arbitrary: fc.constant('van') }, anyText),
  latitude: fc.oneof(anyValue, fc.double({ min: -91, max: 91 })),
  longitude: fc.oneof(anyValue, fc.double({ min: -181, max: 181 })),
  sentTime: anyTime,
  laterMs: fc.constantFrom(0, 0, 60_000, Infinity, NaN),
})

test('a point in a file is valid exactly if the service would accept it from an app', () => {
  const seen = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(anyPoint, ({ deviceId, sentTime, laterMs, ...place }) => {
      const time = parseTime(sentTime) + laterMs
      const point = { ...place, deviceId, sentTime, time, measured: {}, attributes: {} }
      const { report } = reportOf(point, { deviceId })
      const sent = JSON.stringify(report)
      expect(sent.length).toBeLessThan(MOST_BYTES)
      const judged = parseImportedReport(JSON.parse(sent) as object as Record<string, unknown>, {
        now: NOW,
      })
      const asApp = judgePoint({ ...point, kind: 'point', sent: undefined }, { deviceId, now: NOW })
      expect('report' in judged).toBe('report' in asApp)
      if ('report' in judged) expect({ ...asApp, dropped: 0 }).toEqual({ ...judged, dropped: 0 })
      seen['report' in judged ? 'valid' : 'invalid'] += 1
    }),
    { numRuns: 2_000 },
  )
  expect(seen.valid).toBeGreaterThan(50)
  expect(seen.invalid).toBeGreaterThan(50)
})
