import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { PositionReported } from '../../../../schemas/events/position-reported.ts'
import { OPTIONAL_FIELDS } from '../../../../schemas/report/report-fields.ts'
import { T0 } from '../../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../../admin-harness.ts'
import { ofCsv, ofGpx, ofLines, ofXml } from './read-files.ts'

const FORMATS = ['geojson', 'gpx', 'csv', 'ndjson'] as const
const MANY = 20_000

let harness: AdminHarness
let headers: Record<string, string>
/** The records of the device `tug`, in the order of time. */
let events: PositionReported[]

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const changes = Array.from({ length: MANY }, (_, index) => ({
    deviceId: 'tug',
    timestamp: T0 + index * 1000,
    receivedAt: T0 + index * 1000,
    longitude: (index % 3600) / 10 - 180,
    ...(index % 2 === 0 && { altitude: index / 7 - 500, speed: index / 3, accuracy: 0 }),
    ...(index % 5 === 0 && { heading: index % 360, battery: 0.5 }),
    ...(index % 3 === 0 && { attributes: { alarm: 'a;b "c"', hdop: index / 9, motion: true } }),
    ...(index % 7 === 0 && { imported: true as const }),
  }))
  const [first = {}, ...others] = changes
  events = await harness.project(first, ...others)
})

function file(format: string, query = '', deviceId = 'tug') {
  const path = `/devices/${encodeURIComponent(deviceId)}/positions?format=${format}${query}`
  return harness.api('GET', path, { headers })
}

/** Like `toEqual`, which takes a second for this many. */
function expectEqual(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted)
}

/** A record as the API shows it. */
function view(event: PositionReported) {
  const { recordId, deviceId, latitude, longitude } = event
  const timestamp = new Date(event.timestamp).toISOString()
  const receivedAt = new Date(event.receivedAt).toISOString()
  const optional = OPTIONAL_FIELDS.flatMap((name) => {
    const value = event[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const fields = { recordId, deviceId, latitude, longitude, timestamp, receivedAt }
  return { ...fields, ...(Object.fromEntries(optional) as Partial<PositionReported>) }
}

describe('the whole history as a file', () => {
  test('a history in GeoJSON is a collection of points with the rest of the record', async () => {
    const answer = await file('geojson')
    expect(answer.headers.get('content-type')).toBe('application/geo+json')
    expectEqual(JSON.parse(answer.text), {
      type: 'FeatureCollection',
      features: events.map((event) => {
        const { latitude, longitude, altitude, ...properties } = view(event)
        const coordinates = [longitude, latitude, ...(altitude === undefined ? [] : [altitude])]
        return { type: 'Feature', geometry: { type: 'Point', coordinates }, properties }
      }),
    })
  })

  test('a history in GPX is one track in chronological order', async () => {
    const answer = await file('gpx')
    expect(answer.headers.get('content-type')).toBe('application/gpx+xml')
    const { tracks } = ofGpx(answer.text)
    expect(tracks.map(({ name }) => name)).toEqual(['tug'])
    expectEqual(
      tracks[0]?.points.map(({ latitude, longitude, elevation, time }) => ({
        latitude,
        longitude,
        elevation,
        time: time.getTime(),
      })),
      events.map(({ latitude, longitude, altitude, timestamp }) => ({
        latitude,
        longitude,
        elevation: altitude,
        time: timestamp,
      })),
    )
  })

  test('a history in CSV is a header and a row for each record', async () => {
    const answer = await file('csv')
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [header = [], ...rows] = ofCsv(answer.text)
    expect(header).toEqual([
      'recordId',
      'deviceId',
      'latitude',
      'longitude',
      'timestamp',
      'receivedAt',
      ...OPTIONAL_FIELDS,
      'name',
      'labels',
    ])
    const cells = events.map((event) => {
      const record = new Map<string, unknown>(Object.entries(view(event)))
      return header.map((name) => record.get(name))
    })
    const read = rows.map((row) =>
      row.map((cell, index) => {
        if (cell === '') return undefined
        return typeof cells[0]?.[index] === 'string' ? cell : (JSON.parse(cell) as unknown)
      }),
    )
    expectEqual(read, cells)
  })

  test('a history in NDJSON is a record on each line', async () => {
    const answer = await file('ndjson')
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    expectEqual(ofLines(answer.text), events.map(view))
  })

  test('contains the requested range in the requested order', async () => {
    const range = `&from=${new Date(T0 + 5000).toISOString()}&to=${new Date(T0 + 9000).toISOString()}`
    const within = events.slice(5, 9).map(view)
    expect(ofLines((await file('ndjson', range)).text)).toEqual(within)
    expect(ofLines((await file('ndjson', `${range}&order=desc`)).text)).toEqual(within.reverse())
    const all = ofLines((await file('ndjson', '&order=desc')).text)
    expectEqual(all, events.map(view).reverse())
  })

  test.each(FORMATS)('a history in %s is well-formed for an empty range', async (format) => {
    const { status, text } = await file(format, '&from=2030-01-01T00:00:00Z')
    expect(status).toBe(200)
    switch (format) {
      case 'geojson':
        return expect(JSON.parse(text)).toEqual({ type: 'FeatureCollection', features: [] })
      case 'gpx':
        return expect(ofXml(text).getElementsByTagName('trkpt').length).toBe(0)
      case 'csv':
        return expect(ofCsv(text)).toHaveLength(1)
      case 'ndjson':
        return expect(text).toBe('')
    }
  })

  test.each(FORMATS)(
    'a history in %s is a 404 for a device that the account does not have',
    async (format) => {
      const { secret } = await harness.createKey({ accountId: 'acc-2' })
      const path = `/devices/tug/positions?format=${format}`
      const foreign = await harness.api('GET', path, { headers: bearer(secret) })
      const unknown = await file(format, '', 'nobody')
      expect([foreign.status, unknown.status]).toEqual([404, 404])
      expect(foreign.text).toBe(unknown.text)
    },
  )

  test.each([
    ['limit', 'csv', '&limit=5'],
    ['cursor', 'gpx', '&cursor=abc'],
    ['limit,cursor', 'geojson', '&cursor=abc&limit=100'],
    ['format', 'kml', ''],
    ['from', 'ndjson', '&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'],
  ])('an export rejects an invalid %s', async (fields, format, query) => {
    const answer = await file(format, query)
    expect(answer.status).toBe(400)
    expect(answer.body.details?.map(({ field }) => field).join()).toBe(fields)
    for (const { field, message } of answer.body.details ?? []) expect(message).toContain(field)
  })
})

describe('texts that a device controls', () => {
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '="a,b"'])(
    'are not run as formulas by a spreadsheet: %s',
    async (deviceId) => {
      await harness.project({ deviceId, latitude: -1, altitude: -2 })
      const [, row = []] = ofCsv((await file('csv', '', deviceId)).text)
      expect(row[1]).toBe(`'${deviceId}`)
      expect(row[2]).toBe('-1')
      expect(row[7]).toBe('-2')
    },
  )

  test.each([
    ['a;=1+1', "a;'=1+1"],
    ['a;;-1;@x;＝2;b', "a;;'-1;'@x;'＝2;b"],
    ['=1;=2', "'=1;'=2"],
    ["'=1;''=2", "''=1;'''=2"],
  ])(
    'are not run as formulas where semicolons separate cells either: %s',
    async (deviceId, cell) => {
      await harness.project({ deviceId })
      const [, row = []] = ofCsv((await file('csv', '', deviceId)).text)
      expect(row[1]).toBe(cell)
    },
  )

  test.each(['a"b', 'a,b', 'a;b', '"', `'; --`])(
    'stay within their cell in CSV: %s',
    async (deviceId) => {
      await harness.project({ deviceId })
      const rows = ofCsv((await file('csv', '', deviceId)).text)
      expect(rows[1]?.[1]).toBe(deviceId)
      expect(rows.map((row) => row.length)).toEqual([15, 15])
    },
  )

  test.each([
    ['</name><trk/>', '</name><trk/>'],
    ['a & b &amp; &lt; ]]>', 'a & b &amp; &lt; ]]>'],
    ['<!DOCTYPE x [<!ENTITY e "x">]>&e;', '<!DOCTYPE x [<!ENTITY e "x">]>&e;'],
    ['\u{1f6a2} \ufffe\uffff', '\u{1f6a2} \ufffd\ufffd'],
  ])('are escaped as a track’s name in GPX: %j', async (deviceId, name) => {
    await harness.project({ deviceId })
    const document = ofXml((await file('gpx', '', deviceId)).text)
    const names = Array.from(document.getElementsByTagName('name'), (node) => node.textContent)
    expect(names).toEqual([name])
    expect(document.getElementsByTagName('trk').length).toBe(1)
  })

  test.each([
    ['tug-1.b_c', 'attachment; filename="tug-1.b_c-positions.csv"'],
    ['../../etc', 'attachment; filename="_._.._etc-positions.csv"'],
    ['a/b\\c"d', 'attachment; filename="a_b_c_d-positions.csv"'],
    ['50% off', 'attachment; filename="50__off-positions.csv"'],
    ['.hidden', 'attachment; filename="_hidden-positions.csv"'],
    ['gpj.\u202egpx', 'attachment; filename="gpj._gpx-positions.csv"'],
    ['Šlep', `attachment; filename="_lep-positions.csv"; filename*=UTF-8''%C5%A0lep-positions.csv`],
    [
      '\u{1f6a2}',
      `attachment; filename="_-positions.csv"; filename*=UTF-8''%F0%9F%9A%A2-positions.csv`,
    ],
  ])('become a safe file name: %j', async (deviceId, disposition) => {
    await harness.project({ deviceId })
    const answer = await file('csv', '', deviceId)
    expect(answer.headers.get('content-disposition')).toBe(disposition)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

test.each(['=1+1', 'a;=1+1', "a;'=1", '"; -- <b>&'])(
  'an attribute with the text %s survives every format unchanged, and is a formula in none',
  async (alarm) => {
    const deviceId = `alarm ${alarm.length}`
    const attributes = { alarm, constructor: 1.5, motion: false, 'x.y-z_1': 'é' }
    await harness.project({ deviceId, attributes, imported: true })
    const [, row = []] = ofCsv((await file('csv', '', deviceId)).text)
    const [json = '', imported] = row.slice(-4)
    expect([JSON.parse(json), imported]).toEqual([attributes, 'true'])
    expect(json).not.toMatch(/;|^[=+\-@]/)
    const [line] = ofLines((await file('ndjson', '', deviceId)).text)
    expect(line).toMatchObject({ attributes, imported: true })
    const { features } = JSON.parse((await file('geojson', '', deviceId)).text) as {
      features: { properties: object }[]
    }
    expect(features[0]?.properties).toMatchObject({ attributes, imported: true })
    const [extensions] = Array.from(
      ofXml((await file('gpx', '', deviceId)).text).getElementsByTagName('extensions'),
    )
    expect(extensions?.textContent?.trim().split(/\n+/)).toEqual([
      ...[alarm, '1.5', 'false', 'é', 'true'],
    ])
  },
)

test('GPX is valid at the limits of all measurements', async () => {
  const deviceId = 'edges'
  await harness.project(
    { deviceId, latitude: 1e-7, longitude: 180, altitude: -2.5e-9, speed: 1e-7, heading: 360 },
    { deviceId, latitude: -90, longitude: -180, altitude: 100_000, speed: 1e21, heading: 1e-7 },
    { deviceId, latitude: -5e-324, longitude: 179.99999999999997 },
  )
  const { text } = await file('gpx', '', deviceId)
  const points = Array.from(ofXml(text).getElementsByTagName('trkpt'))
  const place = points.map((point) => [point.getAttribute('lat'), point.getAttribute('lon')])
  expect(place).toEqual([
    ['0.0000001', '-180'],
    ['-90', '-180'],
    [`-0.${'0'.repeat(323)}5`, '179.99999999999997'],
  ])
  const told = (name: string) =>
    Array.from(ofXml(text).getElementsByTagName(name), (node) => node.textContent)
  expect(told('ele')).toEqual(['-0.0000000025', '100000'])
  expect(told('gpxtpx:course')).toEqual(['0', '0.0000001'])
  expect(told('gpxtpx:speed').map(Number)).toEqual([1e-7, 1e21])
  // Otherwise GDAL reads both as 0.
  expect(text).toContain(
    '<extensions><gpxtpx:TrackPointExtension>\n<gpxtpx:speed>1e-7</gpxtpx:speed>\n' +
      '<gpxtpx:course>0</gpxtpx:course>\n</gpxtpx:TrackPointExtension>\n' +
      '<gps:heading>360</gps:heading>\n<gps:longitude>180</gps:longitude></extensions>',
  )
  const children = points.map((point) => Array.from(point.childNodes, (node) => node.nodeName))
  expect(children).toEqual([['ele', 'time', 'extensions'], ['ele', 'time', 'extensions'], ['time']])
})
