import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite-event-log.ts'
import { createIngestApp } from '../../ingest-api/app.ts'
import { KeyUsage } from '../../ingest-api/key-usage.ts'
import { serveHttp } from '../../runtime/http-server.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/api-key.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { openSqliteStore } from '../../store/sqlite-store.ts'
import type { ApiKey, Keys, Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'

export type IngestHarness = Awaited<ReturnType<typeof startIngest>>

/**
 * The ingest API on a real socket, with the real log and store in a folder of its own. The clock
 * stands still at T0 unless it is moved. `eventLog` and `keys` can be wrapped to let them fail.
 */
export async function startIngest({
  wrapLog = (log: EventLog): Pick<EventLog, 'append' | 'ready'> => log,
  wrapKeys = (store: Store): Pick<Keys, 'findGrant'> => store,
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'gps-ingest-'))
  const clock = { time: T0, now: () => clock.time }
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory })
  const stopping = new AbortController()
  const usage = new KeyUsage({ keys: store })
  await store.createAccount({ id: 'acc-1', name: 'Fleet', suspended: false, createdAt: T0 })
  const server = await serveHttp({
    app: createIngestApp({
      eventLog: wrapLog(eventLog),
      keys: wrapKeys(store),
      usage,
      clock,
      logger: createLogger({ level: 'silent', name: 'test' }),
      metrics: createMetrics(),
      stopping: stopping.signal,
    }),
    host: '127.0.0.1',
    port: 0,
    graceMs: 500,
  })
  let keys = 0

  return {
    url: server.url,
    clock,
    store,
    usage,
    stopping,
    eventLog,

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

    /** Sends a body as it is, or a value as JSON. */
    async submit(
      body: unknown,
      { key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      const response = await fetch(`${server.url}/api/v1/gps/submit`, {
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
      return answer(response)
    },

    async request(path: string, init: RequestInit = {}): Promise<Answer> {
      return answer(await fetch(server.url + path, init))
    },

    /** Every event that has reached the log so far. */
    async logged(): Promise<PositionReported[]> {
      const { events } = await eventLog.lag('nobody')
      const found: PositionReported[] = []
      if (events === 0) return found
      const reading = new AbortController()
      for await (const item of eventLog.tail({ after: {}, signal: reading.signal })) {
        if (item.kind !== 'batch') continue
        for (const entry of item.entries) if (entry.kind === 'position') found.push(entry.event)
        if (found.length >= events) reading.abort()
      }
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

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function answer(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : { text },
  }
}
