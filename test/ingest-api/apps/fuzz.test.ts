import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { APP_PATHS, appRouteOf } from '../../../ingest-api/apps/app-routes.ts'
import { parseFields } from '../../../schemas/formats/senders/fields.ts'
import { RANGES } from '../../../schemas/report/report-fields.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { anyBody, anyHeaders, anyMediaType, anyQuery, PHONETRACK_LOGGERS } from './any-request.ts'

const READ = 150
const SENT = 40

let ingest: IngestHarness
let secret: string
/** The devices appended to the log, and whether it is unavailable. */
let asked: string[] = []
let away = false

ingestForAllTests((given) => ({ ingest, key: secret } = given), {
  wrapLog: (log) => ({
    ready: () => log.ready(),
    append: async (events) => {
      if (away) throw new DependencyError('away', { retriable: true })
      await log.append(events)
      asked.push(...events.map(({ deviceId }) => deviceId))
    },
  }),
})

const apps = [...new Map(APP_PATHS.map(({ app }) => [app.name, app])).values()]
describe.each(apps.map((app) => [app.name, app] as const))('%s', (_, app) => {
  test('any request is parsed, and its measurements are within range', () => {
    const seen = { point: 0, seen: 0, malformed: 0 }
    const parameters = fc.record({
      app: fc.constantFrom(...PHONETRACK_LOGGERS),
      device: fc.constantFrom('van', '', 'yourname'),
    })
    const property = fc.property(
      ...[anyBody, anyQuery, anyMediaType, anyHeaders, fc.boolean(), parameters],
      (body, query, mediaType, headers, literalBasic, given) => {
        const header = (name: string) => (headers as Record<string, string>)[name] ?? ''
        const request = {
          query: parseFields(query),
          parameters: given,
          header,
          mediaType,
          literalBasic,
        }
        for (const said of app.read({ ...request, body })) {
          seen[said.kind] += 1
          if (said.kind !== 'point') continue
          for (const [name, value] of Object.entries(said.measured)) {
            const [least, greatest] = RANGES[name as keyof typeof RANGES]
            expect(value >= least && value <= greatest && !Object.is(value, -0)).toBe(true)
          }
        }
        expect(app.answer(request).status).toBeLessThan(300)
      },
    )
    // By chance there may be no request that the app could have sent among so few.
    for (let round = 0; round < 5 && seen.point + seen.seen === 0; round += 1) {
      fc.assert(property, { numRuns: READ })
    }
    expect(seen.malformed).toBeGreaterThan(0)
    expect(seen.point + seen.seen).toBeGreaterThan(0)
  })
})

const requests = fc.record({
  path: fc.constantFrom(...APP_PATHS),
  body: anyBody,
  query: anyQuery,
  headers: anyHeaders,
  isAway: fc.boolean(),
  key: fc.constantFrom('good', 'good', 'good', 'none', 'wrong'),
})

test('any request gets a response of the contract, and each 2xx means a report, heartbeat or rejection', async () => {
  const statuses: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 5, maxLength: 5 }), async (several) => {
      for (const { path, body, query, headers, isAway, key } of several) {
        // Otherwise most rejections would wait to be counted together.
        ingest.clock.time += 1_000
        away = isAway
        asked = []
        const before = await counted()
        const method = path.methods[body.length % path.methods.length] ?? 'POST'
        const isGood = key === 'good'
        const url = path.path
          .replace(':key', isGood ? secret : 'x')
          .replace(':app', PHONETRACK_LOGGERS[body.length % PHONETRACK_LOGGERS.length] ?? '')
          .replace(':device', 'van')
        const answer = await fetch(`${ingest.url}${url}?${query.replace('#', '')}`, {
          method,
          headers: { ...headers, ...(isGood && { authorization: `Bearer ${secret}` }) },
          ...(method === 'POST' && { body: new Uint8Array(body) }),
        })
        const text = await answer.text()
        const { status } = answer
        const isRoot = path.path === '/' && method === 'GET'
        statuses[status] = (statuses[status] ?? 0) + 1
        const never4xx = appRouteOf(url)?.app.never4xx === true
        if (!isGood) expect(status).toBe(never4xx ? 503 : 401)
        else if (!isAway && !isRoot) expect(Math.floor(status / 100)).toBe(2)
        else expect([200, 201, 503]).toContain(status)
        if (status === 503) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
        if (text !== '') JSON.parse(text)
        const after = await counted()
        const taken = after.accepted + after.seen - before.accepted - before.seen
        expect(taken).toBe(asked.length)
        if (status >= 500) expect(asked).toEqual([])
        if (isGood && status < 300) {
          const told = after.INVALID_PARAMS - before.INVALID_PARAMS
          expect(taken + told + after.PAYLOAD_TOO_LARGE - before.PAYLOAD_TOO_LARGE).toBeGreaterThan(
            0,
          )
        }
      }
    }),
    { numRuns: SENT },
  )
  expect(Object.keys(statuses).sort()).toEqual(['200', '201', '401', '503'])
})

async function counted() {
  const { values } = await ingest.metrics.reports.get()
  const of = (outcome: string) =>
    values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  return {
    accepted: of('accepted'),
    seen: of('seen'),
    INVALID_PARAMS: of('INVALID_PARAMS'),
    PAYLOAD_TOO_LARGE: of('PAYLOAD_TOO_LARGE'),
  }
}
