import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import type { EventLog, LogEntry } from '../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { createIngestApp } from '../../ingest-api/app.ts'
import { countRefused } from '../../ingest-api/service.ts'
import { KeyUsage } from '../../ingest-api/admission/keys.ts'
import { isOfApp } from '../../ingest-api/apps/app-routes.ts'
import { RejectionQueue } from '../../ingest-api/accept/rejections.ts'
import type { Config } from '../../runtime/config/config.ts'
import { serveHttp } from '../../runtime/http/http-server.ts'
import { InFlight } from '../../runtime/http/in-flight.ts'
import { createLogger, type Logger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import type { DeviceSeen } from '../../schemas/events/device-seen.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { ApiKey, Keys } from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'
import { answerConforms } from './answers-conform.ts'

type RateLimits = Pick<Config['rateLimits'], 'device' | 'key' | 'import' | 'auth'>

export type IngestHarness = Awaited<ReturnType<typeof startIngest>>

/**
 * The ingest API on a real socket, with the real log and store in a separate folder. The clock
 * stays at T0 unless a test moves it. `eventLog` and `keys` can be wrapped to make them fail.
 */
export async function startIngest({
  wrapLog = (log) => log,
  wrapKeys = (store) => store,
  wrapDevices = (store) => store,
  wrapRejections = (topic) => topic,
  rateLimits = {},
  trustProxy = 0,
  testSecret,
  load = new InFlight(),
  metricsElsewhere = false,
  arrivesWithinMs,
  logger = createLogger({ level: 'silent', name: 'test' }),
}: {
  wrapLog?: (log: EventLog) => Pick<EventLog, 'append' | 'ready'>
  wrapKeys?: (store: Store) => Pick<Keys, 'findGrant'>
  wrapDevices?: (store: Store) => Pick<Store, 'findDevice'>
  wrapRejections?: (topic: EventLog['rejections']) => Pick<EventLog['rejections'], 'append'>
  /** Omitted limits are off. */
  rateLimits?: Partial<RateLimits>
  trustProxy?: number
  testSecret?: string
  load?: InFlight
  metricsElsewhere?: boolean
  /** The time for a request to arrive, where the server's own is too long for a test. */
  arrivesWithinMs?: number
  logger?: Logger
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'gps-ingest-'))
  // `step` is by how much somebody has set the machine's clock, while time went on.
  const clock = { time: T0, step: 0, now: () => clock.time + clock.step }
  const steadyClock = { now: () => clock.time }
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory })
  const stopping = new AbortController()
  const usage = new KeyUsage({ keys: store })
  const metrics = createMetrics()
  const rejections = new RejectionQueue({
    topic: wrapRejections(eventLog.rejections),
    clock,
    steadyClock,
    metrics,
    logger,
  })
  await store.createAccount({ id: 'acc-1', name: 'Fleet', suspended: false, createdAt: T0 })
  const server = await serveHttp({
    app: createIngestApp(
      {
        eventLog: wrapLog(eventLog),
        keys: wrapKeys(store),
        devices: wrapDevices(store),
        usage,
        rejections,
      },
      {
        rateLimits: { device: 'off', key: 'off', import: 'off', auth: 'off', ...rateLimits },
        trustProxy,
        testSecret,
        metricsElsewhere,
      },
      { clock, steadyClock, logger, metrics, stopping: stopping.signal },
    ),
    host: '127.0.0.1',
    port: 0,
    graceMs: 500,
    overload: { inFlight: load, onRefused: countRefused({ metrics, logger }) },
    comesAgain: isOfApp,
    ...(arrivesWithinMs !== undefined && { arrivesWithinMs }),
  })
  let keys = 0
  let readings = 0

  async function post(path: string, body: unknown, { key, headers = {} }: Sending) {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...headers,
      },
      body:
        typeof body === 'string' || body instanceof Uint8Array
          ? (body as NonNullable<RequestInit['body']>)
          : JSON.stringify(body),
    })
    return answer(response, 'POST', path)
  }

  async function logEntries() {
    const { events } = await eventLog.lag('nobody')
    const found: LogEntry[] = []
    const reading = new AbortController()
    if (events === 0) return found
    for await (const item of eventLog.tail({ after: {}, signal: reading.signal })) {
      if (item.kind === 'batch') found.push(...item.entries)
      if (found.length >= events) reading.abort()
    }
    return found
  }

  return {
    url: server.url,
    clock,
    store,
    usage,
    stopping,
    eventLog,
    metrics,

    /** A new key of account acc-1 that may report positions, unless `changes` say otherwise. */
    async createKey(changes: Partial<ApiKey> = {}): Promise<{ id: string; secret: string }> {
      keys += 1
      const secret = newApiKey()
      const id = `key-${keys}`
      await store.createKey(
        {
          id,
          accountId: 'acc-1',
          name: 'test',
          hint: keyHint(secret),
          scopes: ['positions:write'],
          createdAt: T0,
          ...changes,
        },
        secretHash(secret),
      )
      return { id, secret }
    },

    /** A new key of a new account, to which all devices are new. */
    async createKeyOfNewAccount(
      changes: Partial<ApiKey> = {},
    ): Promise<{ id: string; secret: string }> {
      const accountId = `acc-of-key-${keys + 1}`
      await store.createAccount({ id: accountId, name: 'New', suspended: false, createdAt: T0 })
      return this.createKey({ ...changes, accountId })
    },

    /** Sends a body unchanged, or a value as JSON. */
    submit: (body: unknown, options: Sending = {}) => post('/api/v1/gps/submit', body, options),
    batch: (body: unknown, options: Sending = {}) => post('/api/v1/gps/batch', body, options),
    import: (body: unknown, options: Sending = {}) => post('/api/v1/gps/import', body, options),

    async request(path: string, init: RequestInit = {}): Promise<Answer> {
      return answer(await fetch(server.url + path, init), init.method ?? 'GET', path)
    },

    /** Every position that has reached the log so far. */
    async logged(): Promise<PositionReported[]> {
      const entries = await logEntries()
      return entries.flatMap((entry) => (entry.kind === 'position' ? [entry.event] : []))
    },

    /** Every heartbeat of a key that has reached the log so far. */
    async heartbeatsOf(keyId: string): Promise<DeviceSeen[]> {
      const entries = await logEntries()
      return entries.flatMap((entry) =>
        entry.kind === 'seen' && entry.event.keyId === keyId ? [entry.event] : [],
      )
    },

    /** Every rejected report that has reached its log so far, `count` of them at least. */
    async rejected(count: number): Promise<ReportRejected[]> {
      await rejections.flush()
      const found: ReportRejected[] = []
      const reading = new AbortController()
      readings += 1
      await eventLog.rejections.subscribe({
        group: `reading-${readings}`,
        signal: reading.signal,
        async onBatch(events) {
          found.push(...events)
          if (found.length >= count) reading.abort()
        },
      })
      return found
    },

    async close() {
      await server.close()
      await store.close()
      await eventLog.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** One ingest API for all tests of a file, and a key that may report to it. */
export function ingestForAllTests(
  use: (given: { ingest: IngestHarness; key: string }) => void,
  options?: Parameters<typeof startIngest>[0],
): void {
  let ingest: IngestHarness | undefined

  beforeAll(async () => {
    ingest = await startIngest(options)
    use({ ingest, key: (await ingest.createKey()).secret })
  })

  afterAll(() => ingest?.close())
}

export type Sending = { readonly key?: string; readonly headers?: Record<string, string> }

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function answer(response: Response, method: string, path: string): Promise<Answer> {
  const text = await response.text()
  answerConforms({ method, path, status: response.status, headers: response.headers, text })
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : { text },
  }
}
