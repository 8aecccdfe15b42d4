import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Pool } from 'undici'
import { eventually } from '../eventually.ts'
import { startEmbedded, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { hostileAppRequest, sendAsApp } from './hostile-app-request.ts'
import { hostileReport, sendReport } from './hostile-report.ts'
import { noteFault, SHORT } from './table.ts'

const BODIES = SHORT ? 10_000 : 50_000
/** Fewer, because an app waits for its rejection to be written. */
const APP_REQUESTS = BODIES / 5
const AT_ONCE = 50
const MOST_GROWTH_MB = 50

let directory: string
let service: Embedded
let pool: Pool
let key: string

beforeAll(async () => {
  directory = await ownDirectory()
  service = await startEmbedded(directory, {
    RATE_LIMIT_KEY: 'off',
    NODE_OPTIONS: '--max-old-space-size=256',
  })
  key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(service.output())?.[0])
  pool = new Pool(service.ingestUrl, { connections: AT_ONCE })
})

afterAll(() => pool.destroy())

test(`${BODIES} hostile bodies get 2xx or 4xx in the envelope, and leave no memory behind`, async () => {
  const { statuses, growth } = await sendAll(BODIES, hostileReport, sendReport)
  noteFault('hostile bodies', { ...statuses, 'growth in MB': growth })
  for (const status of [200, 400, 401, 413, 415, 429])
    expect(statuses[status] ?? 0).toBeGreaterThan(0)
  expect(growth).toBeLessThan(MOST_GROWTH_MB)
})

test(`${APP_REQUESTS} hostile requests to app paths get a response that the app treats as success`, async () => {
  const { statuses, growth } = await sendAll(APP_REQUESTS, hostileAppRequest, sendAsApp)
  noteFault('hostile requests of apps', { ...statuses, 'growth in MB': growth })
  for (const status of [200, 201, 503]) expect(statuses[status] ?? 0).toBeGreaterThan(0)
  expect(growth).toBeLessThan(MOST_GROWTH_MB)
})

/** The number of responses per status, and the growth of memory after the first fifth. */
async function sendAll<Request>(
  count: number,
  requests: fc.Arbitrary<Request>,
  send: (pool: Pool, key: string, request: Request) => Promise<number>,
): Promise<{ statuses: Record<string, number>; growth: number }> {
  const statuses: Record<string, number> = {}
  let before = Infinity
  let sent = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(requests, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (several) => {
        const answered = await Promise.all(several.map((request) => send(pool, key, request)))
        for (const status of answered) statuses[status] = (statuses[status] ?? 0) + 1
        sent += several.length
        // By then all code is compiled, and garbage has been collected several times.
        if (before === Infinity && sent >= count / 5) before = residentMb()
      },
    ),
    { numRuns: count / AT_ONCE },
  )
  return { statuses, growth: residentMb() - before }
}

function residentMb(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
