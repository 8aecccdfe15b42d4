import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { pino } from 'pino'
import { createIngestApp, type IngestPorts } from '../../ingest-api/app.ts'
import { ingestDocument } from '../../ingest-api/openapi.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { parsePositionReport } from '../../schemas/report/position-report.ts'
import { startIngest, type IngestHarness } from './ingest-harness.ts'
import { callsServedBy, callsToldBy, optionalConstantsIn, problemsOf } from '../openapi-document.ts'
import { T0 } from '../samples.ts'

const document = ingestDocument()

test('the document is valid', async () => {
  expect(await problemsOf(document)).toEqual([])
})

test('no optional property is a constant, because generators write faulty Python for it', () => {
  expect(optionalConstantsIn(document)).toEqual([])
})

test('the OpenAPI document has exactly the calls that are served', () => {
  const app = createIngestApp(
    {} as IngestPorts,
    { rateLimits: { device: 'off', key: 'off', import: 'off', auth: 'off' }, trustProxy: 0 },
    {
      clock: { now: () => T0 },
      steadyClock: { now: () => T0 },
      logger: pino({ level: 'silent' }),
      metrics: createMetrics(),
      stopping: new AbortController().signal,
    },
  )
  expect(callsToldBy(document)).toEqual(callsServedBy(app))
})

test.each(['/api/v1/gps/submit', '/api/v1/gps/batch', '/api/v1/gps/import'])(
  'the body of %s has an example where Postman looks for it, valid by its schema',
  (path) => {
    const { post } = document.paths[path] as {
      post: { requestBody: { content: Record<string, { schema: object; example?: unknown }> } }
    }
    const { schema, example } = post.requestBody.content['application/json'] ?? { schema: {} }
    expect(example).toBeDefined()
    const { components } = document
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    expect(ajv.validate({ ...schema, components }, example)).toBe(true)
  },
)

describe.each(['batch', 'import'] as const)('the body of a %s', (call) => {
  const schema = (
    document.paths[`/api/v1/gps/${call}`]?.['post'] as unknown as {
      requestBody: { content: Record<string, { schema: object }> }
    }
  ).requestBody.content['application/json']?.schema
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const conforms = ajv.compile({ ...schema, components: document.components })
  let ingest: IngestHarness
  let key: string

  beforeAll(async () => {
    ingest = await startIngest()
    key = (await ingest.createKey({ scopes: ['positions:write', 'positions:import'] })).secret
  })

  afterAll(() => ingest.close())

  test.each([
    ...[{}, null, 7, 'x', [], true, { latitude: 'x' }, { timestamp: 5 }, { deviceId: '' }],
    ...[{ '': 1 }, { '1a': 1 }, { a: {} }, 'x', []].map((attributes) => ({
      attributes,
    })),
  ])('is valid and gets a 200, although a report in it is %j', async (report) => {
    const body = { reports: [report] }
    expect(conforms(body)).toBe(true)
    const { status, body: answer } = await ingest[call](body, { key })
    expect(status).toBe(200)
    expect(answer['data']).toMatchObject({ rejected: 1 })
  })

  const many = Array.from({ length: 1_001 }, () => ({}))
  test.each([[[]], [{}], [{ reports: [] }], [{ reports: {} }], [{ reports: many }], [7], [null]])(
    'is invalid and gets a 400 if it is %j',
    async (body) => {
      expect(conforms(body)).toBe(false)
      expect((await ingest[call](body, { key })).status).toBe(400)
    },
  )
})

describe('the schema of a report', () => {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': (text: string) => parseIso8601(text) !== undefined },
  })
  const conforms = ajv.compile(document.components['schemas']?.['PositionReport'] ?? false)
  const good = { deviceId: 'tracker-7', latitude: 45.6, longitude: 13.7 }

  const oneOf = (...values: unknown[]) => fc.constantFrom(...values)
  const odd = oneOf(null, '', '1', true, [], {}, -0, -1, 1e308, Infinity)
  const near = (...edges: number[]) =>
    fc.oneof(odd, oneOf(...edges.flatMap((edge) => [edge - 1, edge, edge + 1])), fc.double())
  const optional = (arbitrary: fc.Arbitrary<unknown>) =>
    fc.option(arbitrary, { nil: undefined, freq: 2 })
  const reports = fc.record({
    deviceId: optional(
      fc.oneof(
        odd,
        fc.string({ maxLength: 130 }),
        oneOf('a', '.', '..', ' a', 'a ', 'a b', 'a\n', '\u0085a', 'a\u007f', 'é', '\ud800'),
        oneOf('x'.repeat(128), 'x'.repeat(129)),
      ),
    ),
    latitude: optional(near(-90, 90)),
    longitude: optional(near(-180, 180)),
    timestamp: optional(
      oneOf(
        ...[null, 5, '2026-01-01T00:00:00Z', '2026-01-01', '20260101T000000Z', 'yesterday'],
        ...['2016-12-31T23:59:60Z', '1999-12-31T23:59:59Z', '2000-01-01t00:00:00z'],
      ),
    ),
    accuracy: optional(near(0)),
    altitude: optional(near(-12_000, 100_000)),
    speed: optional(near(0)),
    heading: optional(near(0, 360)),
    battery: optional(near(0, 1)),
    attributes: optional(
      oneOf(
        ...[null, {}, { a: 1, b: 'ü', toString: true }, { a: null }, { [`a${'.'.repeat(63)}`]: 1 }],
        ...['x', [], { a: [] }, { a: {} }, { a: 'x\n' }, { a: 'x'.repeat(257) }, { '1a': 1 }],
        ...[{ [`a${'.'.repeat(64)}`]: 1 }, { 'a b': 1 }],
        ...[32, 33].map((count) =>
          Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n])),
        ),
      ),
    ),
    other: optional(fc.anything()),
  })

  test('the schema of a report accepts and rejects the same reports as the service', () => {
    const seen = { taken: 0, refused: 0 }
    const sent = fc.oneof(
      reports,
      reports.map((report) => ({ ...report, ...good })),
      fc.tuple(reports, fc.constantFrom(...Object.keys(good))).map(([report, field]) => ({
        ...good,
        [field]: report[field as keyof typeof good],
      })),
    )
    fc.assert(
      fc.property(sent, (report) => {
        // As received over the wire, without undefined fields.
        const body = JSON.parse(JSON.stringify(report)) as Record<string, unknown>
        const { deviceId } = body
        // JSON Schema does not know lone surrogates.
        fc.pre(typeof deviceId !== 'string' || deviceId.isWellFormed())
        const taken = 'report' in parsePositionReport(body, { now: T0 + 3_600_000 })
        seen[taken ? 'taken' : 'refused'] += 1
        expect(conforms(body)).toBe(taken)
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100)
  })
})
