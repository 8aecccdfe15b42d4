import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { typeAttributes } from '../../../../schemas/formats/typed-attributes.ts'
import { isoTime } from '../../../../schemas/text/iso-8601.ts'
import {
  parsePositionReport,
  type PositionReport,
} from '../../../../schemas/report/position-report.ts'
import { anyText } from '../../../any-text.ts'
import { readHistory, asReports } from '../../../schemas/formats/histories/read-history.ts'
import { T0 } from '../../../samples.ts'
import { startAdmin, type AdminHarness } from '../../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

const oddName = fc.oneof(
  fc.constantFrom(
    ...[
      'time',
      'speed',
      'ele',
      'lat',
      'lon',
      'hdop',
      'name',
      'course',
      'bearing',
      'accuracy',
      'heading',
    ],
    ...[
      'battery',
      'longitude',
      'imported',
      'attributes',
      'alarm',
      'ignition',
      'charge',
      'sat',
      'atemp',
    ],
    ...[
      'key',
      'wifi',
      'token',
      'type',
      'xmlns',
      'constructor',
      'toString',
      'timestamp',
      'deviceId',
    ],
  ),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/),
)
const oddText = fc.oneof(
  fc.constantFrom(
    ...[
      '7',
      '-1',
      '1e5',
      '0x1f',
      'true',
      'false',
      'OFF',
      'null',
      '',
      ' ',
      ' 7 ',
      '=1',
      "'=1",
      'a;=b',
    ],
    ...[
      '{"a":1}',
      '<b>&amp;',
      ']]>',
      '\ufffe',
      'x\uffff',
      '\ufffd',
      '\u2028',
      '\ufeff7',
      '12,5',
      '00123',
    ],
    ...['"', 'a,b', '\\u0041', 'é'.repeat(256)],
  ),
  anyText({ maxLength: 60 }),
)
const oddValue = fc.oneof(
  oddText,
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const within = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const degrees = (most: number) =>
  fc.oneof(
    within(-most, most),
    fc.constantFrom(most, -most, 0, 1.234567890123457e-7, -Number.MIN_VALUE),
  )
const measured = (min: number, max: number) =>
  fc.option(fc.oneof(within(min, max), fc.constantFrom(0, max)), { nil: undefined })

const anyReport = fc.record({
  latitude: degrees(90),
  longitude: degrees(180),
  timestamp: fc.integer({ min: Date.UTC(2000, 0, 1), max: T0 }).map(isoTime),
  accuracy: measured(0, Number.MAX_VALUE),
  altitude: measured(-12_000, 100_000),
  speed: measured(0, Number.MAX_VALUE),
  heading: measured(0, 360),
  battery: measured(0, 1),
  attributes: fc.dictionary(oddName, oddValue, { maxKeys: 8 }),
})

/** The reports as the service accepts them, in the order of an export; only the first of each time. */
function accepted(deviceId: string, reports: readonly object[]): PositionReport[] {
  const byTime = new Map<number | undefined, PositionReport>()
  for (const report of reports) {
    const parsed = parsePositionReport({ ...report, deviceId }, { now: T0 })
    if (!('report' in parsed)) continue
    const { attributes, ...rest } = parsed.report
    const typed = attributes !== undefined && { attributes: typeAttributes(attributes) }
    if (!byTime.has(rest.timestamp)) byTime.set(rest.timestamp, { ...rest, ...typed })
  }
  return [...byTime.values()].sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))
}

async function importedAgain(format: string, deviceId: string) {
  const path = `/devices/${encodeURIComponent(deviceId)}/positions?format=${format}&order=asc`
  const { text } = await harness.api('GET', path, { headers })
  const { format: recognised, found } = await readHistory(Buffer.from(text))
  return { recognised, reports: asReports(found) }
}

describe.each(['geojson', 'gpx', 'csv', 'ndjson'])('an export as %s', (format) => {
  test('gives an import the very same reports, with any names of attributes and devices', async () => {
    let made = 0
    await fc.assert(
      fc.asyncProperty(
        oddText,
        fc.array(anyReport, { minLength: 1, maxLength: 6 }),
        async (name, sent) => {
          const deviceId = `${(made += 1)}${format}${name}z`.slice(0, 128)
          const reports = accepted(deviceId, sent)
          fc.pre(reports.length > 0)
          for (const { timestamp = 0, ...report } of reports) {
            await harness.project({ ...report, timestamp, receivedAt: T0 })
          }
          expect(await importedAgain(format, deviceId)).toEqual({
            recognised: format,
            reports: reports.map((report) => ({
              ...report,
              timestamp: isoTime(report.timestamp ?? 0),
            })),
          })
        },
      ),
      { numRuns: 60 },
    )
  })
})

test('attributes named like elements of a GPX point do not change its time, speed or position', async () => {
  const attributes = { alarm: '7', ele: '9', hdop: 'x', lat: 1, speed: 99, time: '12.5' }
  const fields = {
    deviceId: 'odd',
    timestamp: T0,
    latitude: 1,
    longitude: 2,
    speed: 3,
    altitude: 4,
  }
  await harness.project({ ...fields, attributes })
  const { reports } = await importedAgain('gpx', 'odd')
  expect(reports).toEqual([{ ...fields, timestamp: isoTime(T0), attributes }])
})
