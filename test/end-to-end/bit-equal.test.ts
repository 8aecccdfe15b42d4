import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { projectInUse } from '../../projector/project-in-use.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { eventually } from '../eventually.ts'
import { startIngest, type IngestHarness } from '../ingest-api/ingest-harness.ts'
import { T0 } from '../samples.ts'
import { anyText } from '../any-text.ts'

let ingest: IngestHarness
let key: string
const projecting = new AbortController()
let projector: Promise<void>

beforeAll(async () => {
  ingest = await startIngest()
  key = (await ingest.createKey()).secret
  projector = projectInUse({
    eventLog: ingest.eventLog,
    store: ingest.store,
    metrics: createMetrics(),
    logger: createLogger({ level: 'silent', name: 'test' }),
    signal: projecting.signal,
  })
})

afterAll(async () => {
  projecting.abort()
  await projector
  await ingest.close()
})

const degrees = (max: number) =>
  fc.oneof(
    fc.double({ min: -max, max, noNaN: true }),
    fc.constantFrom(max, -max, 0, -0, Number.MIN_VALUE, 1e-17, 0.1 + 0.2),
  )
const reports = fc.record(
  {
    deviceId: anyText({ minLength: 1, maxLength: 40 }).filter(
      (id) => id.trim() === id && !/\p{Cc}/u.test(id) && !/^\.\.?$/.test(id),
    ),
    latitude: degrees(90),
    longitude: degrees(180),
    timestamp: fc
      .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date(T0), noInvalidDate: true })
      .map((date) => date.toISOString()),
    accuracy: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    altitude: fc.double({ min: -12_000, max: 100_000, noNaN: true }),
    battery: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: ['deviceId', 'latitude', 'longitude', 'timestamp'] },
)

test('what is accepted comes back from the store bit for bit', async () => {
  await fc.assert(
    fc.asyncProperty(reports, async (report) => {
      const answer = await ingest.submit(report, { key })
      expect(answer.status).toBe(200)
      const { recordId } = answer.body['data'] as { recordId: string }
      const stored = await eventually(() =>
        ingest.store.findPosition({ accountId: 'acc-1', recordId }),
      )
      const { timestamp, ...numbers } = report
      for (const [name, value] of Object.entries(numbers)) {
        // A negative zero is stored as zero; everything else is the very same number or text.
        expect(stored[name as keyof typeof stored]).toBe(value === 0 ? 0 : value)
      }
      expect(new Date(stored.timestamp).toISOString()).toBe(timestamp)
      expect(Object.keys(stored)).toEqual(expect.arrayContaining(Object.keys(report)))
    }),
    { numRuns: 300 },
  )
})
