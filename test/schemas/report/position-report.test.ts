import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { plainReport } from '../../../schemas/report/plain-report.ts'
import { parseByRules, parsePositionReport } from '../../../schemas/report/position-report.ts'
import { RANGES } from '../../../schemas/report/report-fields.ts'

const NOW = Date.UTC(2026, 5, 1)
const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

function parse(body: unknown) {
  return parsePositionReport(body, { now: NOW })
}

function faultyFields(body: unknown): string[] {
  const parsed = parse(body)
  return 'faults' in parsed ? parsed.faults.map(({ field }) => field) : []
}

describe('a position report', () => {
  test('a report needs only a device, a latitude and a longitude', () => {
    expect(parse(minimal)).toEqual({ report: minimal })
  })

  test('a report keeps every known field and drops all others', () => {
    const full = {
      ...minimal,
      accuracy: 4.5,
      altitude: -11_000.25,
      speed: 0,
      heading: 360,
      battery: 1,
    }
    const body = {
      ...full,
      timestamp: '2026-05-31T23:59:59.5Z',
      satellites: 9,
      fix: { type: '3d' },
    }
    expect(parse(body)).toEqual({ report: { ...full, timestamp: NOW - 500 } })
  })

  test("a report's attributes are sorted by name, whatever else is odd about it", () => {
    const sent = { odometer: 12.5, alarm: 'sos' }
    for (const deviceId of ['tracker-1', 'Süd']) {
      const parsed = parse({ ...minimal, deviceId, attributes: sent })
      expect(JSON.stringify(parsed)).toBe(
        JSON.stringify({
          report: { ...minimal, deviceId, attributes: { alarm: 'sos', odometer: 12.5 } },
        }),
      )
    }
    for (const attributes of [null, {}, { fuel: null }]) {
      expect(parse({ ...minimal, attributes })).toEqual({ report: minimal })
    }
  })

  test('faults of attributes are reported by name, together with all others', () => {
    const attributes: unknown = JSON.parse('{"__proto__":1,"deep":{},"speed":1e400,"fine":true}')
    expect(faultyFields({ ...minimal, latitude: 91, attributes })).toEqual([
      'latitude',
      'attributes.__proto__',
      'attributes.deep',
      'attributes.speed',
    ])
    expect(faultyFields({ ...minimal, attributes: 'none' })).toEqual(['attributes'])
  })

  test('null means absent in an optional field and is a fault in a required one', () => {
    expect(parse({ ...minimal, accuracy: null, timestamp: null })).toEqual({ report: minimal })
    expect(faultyFields({ deviceId: null, latitude: null, longitude: null })).toEqual([
      'deviceId',
      'latitude',
      'longitude',
    ])
  })

  test('all faults are reported together', () => {
    const body = { latitude: 91, longitude: '14', timestamp: 5, battery: 2, heading: -1 }
    expect(faultyFields(body)).toEqual([
      'deviceId',
      'latitude',
      'longitude',
      'timestamp',
      'heading',
      'battery',
    ])
  })

  test('a negative zero becomes zero', () => {
    const parsed = parse({ ...minimal, latitude: -0, altitude: -0 })
    expect(parsed).toEqual({ report: { ...minimal, latitude: 0, altitude: 0 } })
  })

  test('ranges include their bounds', () => {
    for (const [latitude, longitude] of [
      [90, 180],
      [-90, -180],
    ]) {
      expect(faultyFields({ ...minimal, latitude, longitude })).toEqual([])
    }
  })

  test.each([
    ['latitude', -90, -90.0000001],
    ['longitude', 180, 180.1],
    ['accuracy', 0, -1e-9],
    ['altitude', -12_000, -12_000.001],
    ['altitude', 100_000, 100_000.001],
    ['heading', 360, 360.001],
    ['heading', 0, -1],
    ['speed', 0, -1],
    ['battery', 1, 1.001],
    ['battery', 0, -1e-9],
  ])('%s may be %d but not %d', (field, last, beyond) => {
    expect(parse({ ...minimal, [field]: last })).toEqual({ report: { ...minimal, [field]: last } })
    expect(faultyFields({ ...minimal, [field]: beyond })).toEqual([field])
  })

  test.each([
    ['latitude', true],
    ['latitude', Infinity],
    ['longitude', [5]],
    ['timestamp', '2026-01-01'],
    ['timestamp', '2025-02-30T00:00:00Z'],
  ])('%s must not be %j', (field, value) => {
    expect(faultyFields({ ...minimal, [field]: value })).toEqual([field])
  })

  test('a timestamp may be 24 hours ahead but not a millisecond more', () => {
    const ahead = (ms: number) => new Date(NOW + 24 * 3_600_000 + ms).toISOString()
    expect(faultyFields({ ...minimal, timestamp: ahead(0) })).toEqual([])
    expect(faultyFields({ ...minimal, timestamp: ahead(1) })).toEqual(['timestamp'])
    expect(faultyFields({ ...minimal, timestamp: '2000-01-01T00:00:00Z' })).toEqual([])
    expect(faultyFields({ ...minimal, timestamp: '1999-12-31T23:59:59.999Z' })).toEqual([
      'timestamp',
    ])
  })

  test.each([
    ['an emoji', '🚚'],
    ['right-to-left text', 'جهاز-١'],
    ['combining marks, not normalised', 'e\u0301'],
    ['what looks like an operator', '$where'],
    ['128 code units', 'x'.repeat(128)],
    ['inner spaces', 'van 7 (north)'],
    ['three dots', '...'],
    ['what only looks like an API key', `gps_${'a'.repeat(38)}`],
  ])('a device id may be %s', (_what, deviceId) => {
    expect(parse({ ...minimal, deviceId })).toEqual({ report: { ...minimal, deviceId } })
  })

  test.each([
    ['empty', ''],
    ['a control character', 'a\u0000b'],
    ['DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u0085b'],
    ['a trailing no-break space', 'a\u00a0'],
    ['a dot', '.'],
    ['a text with an API key in it', `van:${newApiKey()}x`],
    ['an object', { $ne: '' }],
  ])('a device id must not be %s', (_what, deviceId) => {
    expect(faultyFields({ ...minimal, deviceId })).toEqual(['deviceId'])
  })

  test('own properties called __proto__ and inherited values are ignored', () => {
    const body: unknown = JSON.parse('{"__proto__":{"deviceId":"a"},"latitude":1,"longitude":2}')
    expect(faultyFields(body)).toEqual(['deviceId'])
  })

  test('any JSON gives either a report or faults that name fields', () => {
    const almost = fc.record(
      {
        deviceId: fc.oneof(fc.string(), fc.jsonValue()),
        latitude: fc.oneof(fc.double(), fc.jsonValue()),
        longitude: fc.oneof(fc.double(), fc.jsonValue()),
        timestamp: fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map(String),
          fc.jsonValue(),
        ),
        accuracy: fc.oneof(fc.double(), fc.jsonValue()),
        battery: fc.oneof(fc.double(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    const known = ['body', 'deviceId', 'latitude', 'longitude', 'timestamp', 'accuracy', 'battery']
    fc.assert(
      fc.property(fc.oneof(almost, fc.jsonValue()), (body) => {
        const parsed = parse(body)
        if ('report' in parsed) {
          expect(Math.abs(parsed.report.latitude)).toBeLessThanOrEqual(90)
          expect(Math.abs(parsed.report.longitude)).toBeLessThanOrEqual(180)
          expect(parsed.report.deviceId.length).toBeGreaterThan(0)
        } else {
          expect(parsed.faults.length).toBeGreaterThan(0)
          for (const { field, message } of parsed.faults) {
            expect(known).toContain(field)
            expect(message).toContain(field)
          }
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test("typical trackers' reports never need the slow rules", () => {
    const full = { accuracy: 5, altitude: -3, speed: 0, heading: 360, battery: 0.5 }
    for (const timestamp of ['2026-05-31T23:59:59Z', '20260531T2359+02', null]) {
      const attributes = { alarm: 'sos', ignition: true, odometer: 12_345.5 }
      const body = { ...minimal, ...full, timestamp, attributes, unknown: {} }
      expect(plainReport(body, { now: NOW })).toBeDefined()
    }
    for (const deviceId of ['IMEI:352099001761481', 'van.7', '-', 'a'.repeat(128)]) {
      expect(plainReport({ ...minimal, deviceId }, { now: NOW })).toBeDefined()
    }
  })

  test('the fast path gives the same report as the rules', () => {
    const odd = fc.constantFrom(undefined, null, '', ' ', '1', true, [], {}, 7, -0, Infinity)
    const number = (name: keyof typeof RANGES) => {
      const edge = fc.constantFrom(...RANGES[name])
      const beside = fc.tuple(edge, fc.constantFrom(0, 1e-9, -1e-9)).map(([at, by]) => at + by)
      const within = fc.double({ min: RANGES[name][0], max: RANGES[name][1], noNaN: true })
      return fc.oneof(
        { weight: 20, arbitrary: within },
        { weight: 4, arbitrary: beside },
        { weight: 1, arbitrary: fc.double({ noNaN: true }) },
        { weight: 1, arbitrary: odd },
      )
    }
    const time = fc.oneof(
      fc.integer({ min: NOW - 9e8, max: NOW + 9e7 }),
      fc.constantFrom(0, 1, -1).map((ms) => NOW + 86_400_000 + ms),
      fc.constantFrom(0, 1, -1).map((ms) => Date.UTC(2000, 0, 1) + ms),
    )
    const deviceId = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'B', '7', '.', '-', '_', ':') }),
      fc.string({ unit: fc.constantFrom('a', '7', '.', ' ', '$', '\n', 'é') }),
      fc.constant('x').chain((x) => fc.integer({ min: 126, max: 130 }).map((n) => x.repeat(n))),
      fc.constant(newApiKey()),
    )
    const bodies = fc.record(
      {
        deviceId: fc.oneof({ weight: 9, arbitrary: deviceId }, odd),
        latitude: number('latitude'),
        longitude: number('longitude'),
        timestamp: fc.oneof(
          { weight: 20, arbitrary: time.map((at) => new Date(at).toISOString()) },
          fc.string(),
          odd,
        ),
        accuracy: number('accuracy'),
        altitude: number('altitude'),
        speed: number('speed'),
        heading: number('heading'),
        battery: number('battery'),
        attributes: fc.oneof(odd, fc.dictionary(fc.string({ maxLength: 3 }), odd)),
      },
      { requiredKeys: ['deviceId', 'latitude', 'longitude'] },
    )
    let plain = 0
    fc.assert(
      fc.property(bodies, (body) => {
        const report = plainReport(body, { now: NOW })
        if (report === undefined) return
        plain += 1
        expect(parseByRules(body, { now: NOW })).toEqual({ report })
        expect(Object.values(report).some((value) => Object.is(value, -0))).toBe(false)
      }),
      { numRuns: 20_000 },
    )
    expect(plain).toBeGreaterThan(200)
  })
})
