import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { importHistory } from '../../../commands/import/import-history.ts'
import { parseOptions } from '../../../commands/import/options.ts'
import { ImportTally, exitCode, importSummary } from '../../../commands/import/tally.ts'
import { describeFaults } from '../../../runtime/errors.ts'
import { NO_TIMESTAMP, parseImportedReport } from '../../../schemas/report/position-report.ts'
import {
  jumpingTiming,
  refused,
  standInService,
  type Received,
  type Reply,
} from '../../client/stand-in-service.ts'
import { ownDirectory } from '../../own-directory.ts'
import { history } from '../../schemas/formats/histories/read-history.ts'
import { freePort } from '../../services/own-server.ts'

const directory = await ownDirectory()

const LACKS_SCOPE = 'this API key lacks the scope positions:import'

type Sent = { deviceId: string; latitude: number; timestamp: string }
const reportsIn = ({ body }: Received) => (JSON.parse(body) as { reports: Sent[] }).reports

/** A service's response with an outcome for each report, by its rules or for other reasons. */
function taken(request: Received, refusal: (report: Sent) => string | undefined = () => undefined) {
  const results = reportsIn(request).map((report, index) => {
    const judged = parseImportedReport(report, { now: Date.now() })
    if ('faults' in judged)
      return { index, error: 'INVALID_PARAMS', ...describeFaults(judged.faults) }
    const error = refusal(report)
    return error === undefined
      ? { index, recordId: 'r', receivedAt: 'now' }
      : { index, error, message: `refused: ${error}` }
  })
  return { status: 200, data: { success: true, data: { results } } } satisfies Reply
}

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

/** Lines of a device, a second apart. */
function lines(count: number, more: object = {}): string {
  return Array.from({ length: count }, (_, n) => {
    const timestamp = new Date(Date.UTC(2024, 0, 1) + n * 1000).toISOString()
    return `${JSON.stringify({ deviceId: 'van', latitude: n / 1e5, longitude: 1, timestamp, ...more })}\n`
  }).join('')
}

async function run(args: readonly string[], reply: (request: Received, index: number) => Reply) {
  const { url, received } = await standInService(reply)
  const options = parseOptions(['--url', url.href, '--key', 'secret', ...args], {})
  if (options === 'help') throw new Error('help')
  const tally = new ImportTally()
  const timing = jumpingTiming()
  let shown = ''
  const screen = { write: (text: string) => (shown += text) }
  const failure = await importHistory(options, { tally, screen, timing }).catch(String)
  const text = importSummary(tally, { dryRun: options.target === undefined })
  return { received, failure, text, exit: exitCode(tally), pauses: timing.pauses, shown }
}

describe('imports', () => {
  test('an import sends the points in the order of the files, at most 1000 at a time', async () => {
    const files = [file('a.ndjson', lines(1_500)), file('b.ndjson', lines(10))]
    const { received, text, exit } = await run(files, (request) => taken(request))
    expect(received.map((request) => reportsIn(request).length)).toEqual([1_000, 510])
    const sent = received.flatMap(reportsIn)
    expect(sent.map(({ latitude }) => latitude)).toEqual(
      [...Array(1_500).keys(), ...Array(10).keys()].map((n) => n / 1e5),
    )
    expect(received[0]).toMatchObject({ path: '/api/v1/gps/import', key: 'Bearer secret' })
    expect(exit).toBe(0)
    expect(text).toContain('accepted: 1,510')
    expect(text).toContain('van: 1,510, from 2024-01-01T00:00:00.000Z to 2024-01-01T00:24:59.000Z')
  })

  test('an import sends at most 1 MiB at a time', async () => {
    const note = 'é'.repeat(250)
    const attributes = { a: note, b: note, c: note }
    const { received, text } = await run(
      [file('a.ndjson', lines(1_500, { attributes }))],
      (request) => taken(request),
    )
    const sizes = received.map(({ body }) => Buffer.byteLength(body))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1024 * 1024)
    // Nor are batches needlessly small.
    expect(sizes[0]).toBeGreaterThan(1_000_000)
    expect(text).toContain('accepted: 1,500')
  })

  test('an import counts attributes that do not fit and keeps their points', async () => {
    const attributes = { long: 'x'.repeat(300), short: 'x' }
    const { received, text, exit } = await run(
      [file('a.ndjson', lines(2, { attributes }))],
      (request) => taken(request),
    )
    expect(received.flatMap(reportsIn)).toMatchObject([
      { attributes: { short: 'x' } },
      { attributes: { short: 'x' } },
    ])
    expect(text).toContain('attributes omitted, too long or too many: 2')
    expect(exit).toBe(0)
  })

  test('an import names ignored columns and fields that resemble known ones', async () => {
    const columns =
      'deviceId,latitude,longitude,timestamp,accurracy,batery,recordId,name,receivedAt'
    const row = 'van,1,2,2024-01-01T00:00:00Z,5,0.5,x,Van,2024-01-01T00:00:00Z'
    const feature = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { deviceId: 'van', timestamp: '2024-01-01T00:00:01Z', speeed: 1, recordId: 'x' },
    }
    const files = [
      file('own.csv', [columns, row, row].join('\n')),
      file('own.geojson', JSON.stringify({ type: 'FeatureCollection', features: [feature] })),
      file('own.ndjson', lines(3, { Heading: 1, imported: true })),
    ]
    const { text, exit } = await run(files, (request) => taken(request))
    expect(text.split('\n').filter((line) => line.startsWith('ignored'))).toEqual([
      'ignored, perhaps misspelt: accurracy (2)',
      'ignored, perhaps misspelt: batery (2)',
      'ignored, perhaps misspelt: speeed (1)',
      'ignored, perhaps misspelt: Heading (3)',
    ])
    expect(exit).toBe(0)
  })

  test('an import skips positions that Traccar marks as having no fix', async () => {
    const place = { deviceId: 7, latitude: 1, longitude: 2, valid: true, outdated: false }
    const positions = [
      { ...place, fixTime: '2024-01-01T00:00:00Z' },
      { ...place, fixTime: '2024-01-01T00:01:00Z', valid: false },
      { ...place, fixTime: '2024-01-01T00:02:00Z', outdated: true },
    ]
    const rows = positions.map(({ fixTime, valid, outdated }) =>
      [7, fixTime, valid, outdated, 1, 2].join(','),
    )
    const csv = ['deviceId,fixTime,valid,outdated,latitude,longitude', ...rows].join('\n')
    for (const path of [
      file('positions.json', JSON.stringify(positions)),
      file('positions.csv', csv),
    ]) {
      const { text, exit, received } = await run(['--device', 'van', path], (one) => taken(one))
      expect(received.flatMap(reportsIn)).toMatchObject([{ timestamp: '2024-01-01T00:00:00.000Z' }])
      expect(text).toContain('no positions, entries without a position: 2\n')
      expect(exit).toBe(0)
    }
  })

  test('an import skips points whose numeric device id exceeds 2⁵³ and would be rounded to another', async () => {
    const point = (id: string) =>
      `{"deviceId":${id},"latitude":1,"longitude":2,"timestamp":"2024-01-01T00:00:00Z"}\n`
    const path = file('sims.ndjson', point('89490200001234567890') + point('7'))
    const { text, exit, received } = await run([path], (request) => taken(request))
    expect(received.flatMap(reportsIn)).toMatchObject([{ deviceId: '7' }])
    expect(text).toContain('the device’s id is a number beyond 2⁵³')
    expect(exit).toBe(1)
  })

  test('an import waits as long as the service asks, then resends rejected points unchanged', async () => {
    const { received, pauses, exit } = await run([file('a.ndjson', lines(3))], (request, index) => {
      if (index === 0) return refused(429, 'RATE_LIMITED', { 'Retry-After': '7' })
      if (index === 1) return refused(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '2' })
      if (index > 2) return taken(request)
      return taken(request, ({ latitude }) => (latitude > 1e-5 ? 'RATE_LIMITED' : undefined))
    })
    const bodies = received.map(({ body }) => body)
    expect(bodies.slice(1, 3)).toEqual([bodies[0], bodies[0]])
    expect(received.slice(3).flatMap(reportsIn)).toEqual(reportsIn(received[0]!).slice(2))
    expect(pauses.slice(0, 2)).toEqual([7_250, 2_250])
    expect(exit).toBe(0)
  })

  test('an import lists skipped points by reason, with the location of the first few', async () => {
    const good = lines(2)
    const bad = [
      '{"deviceId":"van","latitude":91,"longitude":1,"timestamp":"2024-01-01T00:00Z"}',
      '{',
    ]
    const { text, exit } = await run(
      [file('a.ndjson', `${good}${bad.join('\n')}\n`), file('b.ndjson', lines(1))],
      (request) => taken(request, ({ latitude }) => (latitude > 0 ? 'FORBIDDEN' : undefined)),
    )
    expect(exit).toBe(1)
    expect(text.replaceAll(`${directory}/`, ''))
      .toBe(`accepted: 2 (the service has them now, whether new or known before)
  van: 2, from 2024-01-01T00:00:00.000Z to 2024-01-01T00:00:00.000Z
repeats among them: 1 (same device, time and position)
skipped, unreadable entries: 1
  a.ndjson, line 4: the line must be a JSON object
skipped, FORBIDDEN: 1
  a.ndjson, line 2: refused: FORBIDDEN
skipped, latitude must be a number from -90 to 90 (WGS84 degrees): 1
  a.ndjson, line 3
`)
  })

  test('an import ends when the service rejects the key, and gives the reason', async () => {
    const { received, failure } = await run([file('a.ndjson', lines(5_000))], () =>
      refused(401, 'UNAUTHORIZED'),
    )
    expect(failure).toContain('rejects the import')
    // One request may already have been in flight.
    expect(received.length).toBeLessThanOrEqual(2)
  })

  test('an import whose key lacks the import scope says how to create a key that has it', async () => {
    const { failure } = await run([file('a.ndjson', lines(1))], () => ({
      status: 403,
      data: { ...refused(403, 'FORBIDDEN').data, message: LACKS_SCOPE },
    }))
    expect(failure).toContain(`${LACKS_SCOPE}. Create another key: in the console, Keys → New key`)
  })

  test('an import ends after five minutes without a response', async () => {
    const { failure, pauses } = await run([file('a.ndjson', lines(1))], () => 'hang-up')
    expect(failure).toMatch(
      /: the service has not accepted anything for too long \(UND_ERR_SOCKET\)$/,
    )
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(290_000)
  })

  test.each([
    [
      'a port where nobody listens',
      freePort,
      'ECONNREFUSED',
      'start the service, or correct --url',
    ],
    ['a port that fetch blocks', () => 6000, 'BAD_PORT', 'serve the ingest API on another one'],
  ])('an import to %s ends after a few attempts and says why', async (_, port, reason, remedy) => {
    const url = `http://127.0.0.1:${await port()}`
    const given = ['--url', url, file('a.ndjson', lines(1))]
    const { failure, pauses } = await run(given, () => 'hang-up')
    expect(failure).toContain(`no response from ${url}/ (${reason})`)
    expect(failure).toContain(remedy)
    expect(pauses.length).toBeLessThan(6)
  })

  test('an import continues with the next file after a file that cannot be read to its end', async () => {
    const broken = file(
      'a.json',
      '{"locations":[{"latitudeE7":1,"longitudeE7":2,"timestampMs":"1700000000000"}',
    )
    const { text, exit } = await run(
      ['--device', 'phone', broken, file('b.ndjson', lines(2))],
      (request) => taken(request),
    )
    expect(exit).toBe(2)
    expect(text).toContain('accepted: 3')
    expect(text).toContain('a.json: it ends after element 1')
  })

  test('an import needs a device for files without device ids', async () => {
    const records = join('test', 'fixtures', 'histories', 'records.json')
    const without = await run([records], (request) => taken(request))
    expect(without).toMatchObject({ exit: 2, received: [] })
    expect(without.text).toContain('--device')
    const named = await run(['--device', 'phone', records], (request) => taken(request))
    expect(named.text).toContain('accepted: 2')
    expect(new Set(named.received.flatMap(reportsIn).map(({ deviceId }) => deviceId))).toEqual(
      new Set(['phone']),
    )
  })

  test('an import skips a point that names no device in a file whose others do', async () => {
    const point = '{"latitude":1,"longitude":2,"timestamp":"2024-01-01T00:00:00Z"}\n'
    const path = file('a.ndjson', `${lines(1)}${point}`)
    const { text, exit } = await run([path], (request) => taken(request))
    expect(text).toContain(`skipped, deviceId: 1\n  ${path}, line 2: it names no device\n`)
    expect(exit).toBe(1)
  })

  test('a dry run names each skipped point, an import the first ones', async () => {
    const path = file('a.ndjson', '{"deviceId":"van","latitude":1,"longitude":1}\n'.repeat(5))
    const named = (last: number) =>
      Array.from({ length: last }, (_, n) => `  ${path}, line ${n + 1}\n`).join('')
    const { text: imported } = await run([path], (request) => taken(request))
    expect(imported).toContain(`: 5\n${named(3)}  and 2 more: see --dry-run\n`)
    const { text } = await run(['--dry-run', path], () => 'hang-up')
    expect(text).toContain(`: 5\n${named(5)}`)
  })

  test("an import of a .rec file without topics, outside the Recorder's folders, needs a device", async () => {
    const line = `2024-03-01T09:03:09Z\t*\t{"_type":"location","tid":"bo","lat":1,"lon":2,"tst":1709283789}\n`
    const { text, exit, received } = await run([file('2024-03.rec', line)], () => 'hang-up')
    expect({ exit, received }).toEqual({ exit: 2, received: [] })
    expect(text).toContain('its points have no device id: set one with --device ID')
  })

  test("an import needs Traccar's device list to resolve the device numbers of its positions", async () => {
    const [positions, devices] = ['traccar-positions.json', 'traccar-devices.json'].map((name) =>
      join('test', 'fixtures', 'histories', name),
    ) as [string, string]
    const without = await run([positions], (request) => taken(request))
    expect(without).toMatchObject({ exit: 2, received: [] })
    expect(without.text).toContain('--devices')
    const named = await run(['--devices', devices, positions], (request) => taken(request))
    const ids = named.received.flatMap(reportsIn).map(({ deviceId }) => deviceId)
    expect(ids).toEqual(['356307042441013', 'jane-phone'])
    expect(named.text).toContain('element 3: --devices has no device 9')
  })

  test('an import sends only points in the requested time range', async () => {
    const args = ['--from', '2024-01-01T00:00:02Z', '--to', '2024-01-01T00:00:04Z']
    const { received, text, exit } = await run([...args, file('a.ndjson', lines(10))], (request) =>
      taken(request),
    )
    const times = received.flatMap(reportsIn).map(({ timestamp }) => timestamp.slice(17, 19))
    expect(times).toEqual(['02', '03'])
    expect(text).toContain('outside of --from and --to: 8')
    expect(exit).toBe(0)
  })

  const INVALID = [
    '{"deviceId":"van","latitude":1,"longitude":1}',
    '{"deviceId":"v\\u0001n","latitude":1,"longitude":1,"timestamp":"2024-01-01T00:00:00Z"}',
    `{"deviceId":"${'x'.repeat(2_000_000)}","latitude":1,"longitude":1,"timestamp":"2024-01-01T00:00Z"}`,
    `{"deviceId":"van","latitude":"${'9'.repeat(2_000_000)}","longitude":"1,5","timestamp":"1999-01-01T00:00Z"}`,
    '{"deviceId":"van","latitude":91,"longitude":[1],"timestamp":"yesterday"}',
    '{"deviceId":"van","latitude":1,"longitude":1,"timestamp":99999999999999999999}',
  ]

  test('an import lets the service judge each point and prints its response', async () => {
    const path = file('a.ndjson', `${lines(2)}${INVALID.join('\n')}\n`)
    const { received, text, exit } = await run([path], (request) => taken(request))
    expect(received.flatMap(reportsIn)).toHaveLength(2 + INVALID.length)
    expect(text).toContain('accepted: 2')
    expect(text).toContain(`skipped, ${NO_TIMESTAMP.message}: 1\n  ${path}, line 3\n`)
    expect(exit).toBe(1)
  })

  test('a dry run of an import sends nothing and reports the same faults in the same words', async () => {
    const path = file('a.ndjson', `${lines(2)}${INVALID.join('\n')}\n`)
    const dry = await run(['--dry-run', path], (request) => taken(request))
    expect(dry).toMatchObject({ received: [], exit: 1 })
    expect(dry.text).toContain('would be imported: 2')
    const { text } = await run([path], (request) => taken(request))
    const afterFirst = (lines: string) => lines.slice(lines.indexOf('\n'))
    expect(afterFirst(dry.text)).toBe(afterFirst(text))
  })

  test("an import sends every point before a file's damage, and says where that is and how much is skipped", async () => {
    const records = JSON.stringify({
      locations: Array.from({ length: 2_000 }, (_, n) => ({
        latitudeE7: n,
        longitudeE7: 7,
        timestampMs: String(1_700_000_000_000 + n * 1000),
      })),
    })
    const half = records.indexOf('"latitudeE7":1000,')
    const csv = `deviceId,latitude,longitude,timestamp\n${Array.from(
      { length: 2_000 },
      (_, n) => `${n === 1_500 ? '"' : ''}van,1,${n / 1e5},2024-01-01T00:00:00Z\n`,
    ).join('')}`
    const compressed = gzipSync(lines(2_000, { note: 'x'.repeat(20) }))
    const torn = lines(2_000).replace('"latitude":0.015,', '"latitude":0.015,\ud800"n":"')
    const latin1 = Buffer.from(torn.replace('\ud800', '\xe9'), 'latin1')
    for (const [name, bytes, accepted, message] of [
      [
        'damaged.gpx',
        history('damaged.gpx'),
        1,
        'line 4, column 209: unexpected close tag; omitted from there on: about 2 track points',
      ],
      [
        'records.json',
        `${records.slice(0, half)}${records.slice(half + 2)}`,
        1_000,
        'not valid JSON after element 1000',
      ],
      [
        'a.csv',
        csv,
        1_500,
        'not valid CSV after line 1501: a quoted cell does not end; omitted from there on: about 500 lines',
      ],
      [
        'cut.ndjson.gz',
        compressed.subarray(0, compressed.length - 9),
        1_999,
        'incomplete, after line 2000',
      ],
      ['latin1.ndjson', latin1, 1_500, 'not text in UTF-8, after line 1500'],
    ] as const) {
      writeFileSync(join(directory, name), bytes)
      const { text, exit, received } = await run(
        ['--device', 'phone', join(directory, name)],
        (request) => taken(request),
      )
      expect([name, text]).toEqual([name, expect.stringContaining(`${name}: `)])
      expect([name, text]).toEqual([name, expect.stringContaining(message)])
      expect([name, exit]).toEqual([name, 2])
      const imported = received.flatMap(reportsIn).length
      expect([name, imported]).toEqual([name, expect.any(Number)])
      expect(imported).toBeGreaterThanOrEqual(accepted)
      expect(imported).toBeLessThanOrEqual(accepted + 1)
    }
  })

  test('an import of a file without positions says so and exits with code 1', async () => {
    const wayPoints = join('test', 'fixtures', 'histories', 'way-points.gpx')
    const args = ['--device', 'bike', wayPoints, file('a.ndjson', lines(1))]
    const { text, exit } = await run(args, (request) => taken(request))
    expect(exit).toBe(1)
    expect(text).toContain('no positions, way points: 1\n')
    expect(text).toContain('no positions, points of routes: 1\n')
    expect(text).toContain(`no recorded position in ${wayPoints}\n`)
    const none = await run(['--device', 'x', file('b.json', '{"locations":[]}')], () => 'hang-up')
    expect(none).toMatchObject({ exit: 1, received: [] })
    expect(none.text).toMatch(/^accepted: 0\n/)
  })
})
