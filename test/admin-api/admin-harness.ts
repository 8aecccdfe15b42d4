import { setMaxListeners } from 'node:events'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll } from '@jest/globals'
import { pino } from 'pino'
import { createAdminApp } from '../../admin-api/app.ts'
import type { IngestAddresses } from '../../admin-api/ingest-addresses.ts'
import type { StreamOptions } from '../../admin-api/stream/options.ts'
import type { EventLog } from '../../event-log/event-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import {
  openSqliteEventLog,
  type SqliteEventLogOptions,
} from '../../event-log/sqlite/sqlite-event-log.ts'
import { parseNetwork } from '../../runtime/outbound/outbound-url.ts'
import { sealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type { MapConfig } from '../../runtime/config/console-variables.ts'
import { serveHttp } from '../../runtime/http/http-server.ts'
import { MOST_LISTENERS } from '../../runtime/process/lifecycle.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { Operator } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import { closeAfterwards } from '../closing.ts'
import { batchOf, LogOfOneSuite } from '../contracts/store-samples.ts'
import { positionReported, T0 } from '../samples.ts'
import { ownDirectory } from '../own-directory.ts'
import { answerConforms } from './answers-conform.ts'

export type AdminHarness = Awaited<ReturnType<typeof startAdmin>>

export const PASSWORD = 'correct horse battery staple'
/** A hash of PASSWORD at a negligible cost; `hashPassword` makes an expensive one. */
export const CHEAP_HASH =
  '$scrypt$ln=4,r=8,p=1$c2l4dGVlbiBieXRlcy4uLg$DRKI5h7YOkgC9fmHqj2fxoz+6DTg/1qUX2yDbYx9UO0'

/**
 * The admin API on a real socket, with a store in a separate folder: accounts acc-1 and acc-2, and
 * one operator, `ana@example.org`, an admin of acc-1 unless `operator` says otherwise. The clock
 * stays at T0 + 1 h unless it is moved. Everything logged is collected. It closes after the
 * test or file that has started it.
 */
export async function startAdmin({
  operator = {},
  trustProxy = 0,
  wrapStore = (store: Store): Store => store,
  openStore = async ({ directory, clock }) => openSqliteStore({ directory, clock }),
  openLog = openSqliteEventLog,
  stream = {},
  callLimit = 'off',
  authLimit = 'off',
  pastedKeyLimit = 'off',
  lateAnswersAfterMs,
  ingest = { forSenders: () => 'http://127.0.0.1:8080' },
  maps = [],
  consolePublicUrl,
  subscriptions = {},
}: {
  operator?: Partial<Operator>
  trustProxy?: number
  wrapStore?: (store: Store) => Store
  openStore?: (place: { directory: string; clock: { now(): number } }) => Promise<Store>
  openLog?: (options: SqliteEventLogOptions) => EventLog
  stream?: Partial<StreamOptions>
  callLimit?: RateLimit | 'off'
  authLimit?: RateLimit | 'off'
  /** `usual`: the service's own. */
  pastedKeyLimit?: 'usual' | 'off'
  lateAnswersAfterMs?: number
  ingest?: IngestAddresses
  maps?: readonly MapConfig[]
  consolePublicUrl?: string
  subscriptions?: { secrets?: undefined; hasMail?: boolean; testWithinMs?: number }
} = {}) {
  const directory = await ownDirectory()
  const clock = { time: T0 + 3_600_000, now: () => clock.time }
  const store = await openStore({ directory, clock })
  const eventLog = openLog({ file: join(directory, 'log.sqlite'), clock })
  const logged: string[] = []
  const metrics = createMetrics()
  const stopping = new AbortController()
  setMaxListeners(MOST_LISTENERS, stopping.signal)
  const person: Operator = {
    id: 'op-1',
    accountId: 'acc-1',
    email: 'ana@example.org',
    role: 'admin',
    platform: false,
    passwordHash: CHEAP_HASH,
    createdAt: T0,
    ...operator,
  }
  const accounts = ['acc-1', 'acc-2'].map((id) => ({
    id,
    name: `Account ${id}`,
    suspended: false,
    createdAt: T0,
  }))
  for (const account of accounts) {
    if (account.id === person.accountId) {
      await store.createFirstOperator({ account, operator: person })
    } else await store.createAccount(account)
  }
  const server = await serveHttp({
    app: createAdminApp({
      store: wrapStore(store),
      eventLog,
      factLog: 'factLog' in store ? (store.factLog as FactLog) : NO_FACTS,
      secrets: sealedSecrets(randomBytes(32)),
      networks: [parseNetwork('127.0.0.0/8')!],
      hasMail: true,
      ...subscriptions,
      mode: 'embedded',
      ingest,
      maps,
      consolePublicUrl,
      pastedKeyLimit: pastedKeyLimit === 'usual' ? undefined : pastedKeyLimit,
      lateAnswersAfterMs,
      clock,
      logger: pino({ level: 'trace' }, { write: (line: string) => logged.push(line) }),
      metrics,
      stopping: stopping.signal,
      stream,
      trustProxy,
      callLimit,
      authLimit,
      ready: () => store.ready(),
    }),
    host: '127.0.0.1',
    port: 0,
    graceMs: 500,
    atOnce: 1,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= end())
  closeAfterwards(close)
  const log = new LogOfOneSuite()
  let made = 0

  async function end(): Promise<void> {
    await server.close()
    await store.close()
    await eventLog.close()
  }

  async function request(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    // As fetch sends it, without segments that are a dot.
    const { href, pathname } = new URL(server.url + path)
    const response = await fetch(href, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isText ? (body as BodyInit) : JSON.stringify(body) }),
    })
    const type = response.headers.get('content-type') ?? ''
    const text = type === 'text/event-stream' ? await beginning(response) : await response.text()
    const { status, headers: answered } = response
    answerConforms({ method, path: pathname, status, headers: answered, text })
    const isJson = type.startsWith('application/json')
    const parsed = isJson && text !== '' ? (JSON.parse(text) as Answer['body']) : undefined
    return { status, headers: answered, text, body: parsed ?? NO_BODY }
  }

  return {
    url: server.url,
    clock,
    store,
    eventLog,
    logged,
    metrics,
    stopping,
    operator: person,
    request,
    /** Closes it before the end of the test. */
    close,

    /** The path is under /api/v1. */
    api: (method: string, path: string, options: Parameters<typeof request>[2] = {}) =>
      request(method, `/api/v1${path}`, options),

    /** The items on all pages of a list, whose path has a query; `between` runs after each page. */
    async allPages(
      path: string,
      {
        headers,
        between = async () => {},
      }: { headers: Record<string, string>; between?: (() => Promise<unknown>) | undefined },
    ): Promise<Record<string, unknown>[]> {
      const things: Record<string, unknown>[] = []
      for (let cursor = ''; ;) {
        const { body, text } = await request('GET', `/api/v1${path}${cursor}`, { headers })
        const { items, nextCursor } = body.data ?? {}
        if (items === undefined) throw new Error(text)
        things.push(...items)
        await between()
        if (typeof nextCursor !== 'string') return things
        cursor = `&cursor=${nextCursor}`
      }
    },

    /** A new key of account acc-1 with the scope admin, unless `changes` say otherwise. */
    async createKey(changes: Partial<ApiKey> = {}): Promise<{ id: string; secret: string }> {
      made += 1
      const secret = newApiKey()
      const id = `key-${made}`
      const key: ApiKey = {
        id,
        accountId: 'acc-1',
        name: 'test',
        hint: keyHint(secret),
        scopes: ['admin'],
        createdAt: T0 + made,
        ...changes,
      }
      await store.createKey(key, secretHash(secret))
      return { id, secret }
    },

    /** Another operator of account acc-1, a viewer with PASSWORD unless `changes` say otherwise. */
    async createOperator(changes: Partial<Operator> = {}): Promise<Operator> {
      made += 1
      const other: Operator = {
        id: `op-made-${made}`,
        accountId: 'acc-1',
        email: `made-${made}@example.org`,
        role: 'viewer',
        platform: false,
        passwordHash: CHEAP_HASH,
        createdAt: T0 + made,
        ...changes,
      }
      await store.createOperator(other)
      return other
    },

    /** Starts a session; returns the headers that the console sends with it. */
    async createSession(
      operatorId = person.id,
    ): Promise<{ Cookie: string; 'X-Requested-With': string }> {
      made += 1
      const token = Buffer.alloc(16, `session ${made}`).toString('base64url')
      const now = clock.now()
      await store.createSession({
        tokenHash: secretHash(token),
        operatorId,
        createdAt: now,
        lastSeenAt: now,
      })
      return { Cookie: `gps_session=${token}`, 'X-Requested-With': 'console' }
    },

    /** Stores records as the projector does. */
    async project(...changes: readonly [Changes, ...Changes[]]): Promise<PositionReported[]> {
      const [first, ...others] = changes.map((change) => log.append(positionReported(change)))
      if (first !== undefined) await store.project(batchOf(first, ...others))
      return [first, ...others].flatMap((entry) => (entry === undefined ? [] : [entry.event]))
    },

    /** Removes a device as the projector does. */
    async projectErasure(erasure: DeviceErased): Promise<void> {
      await store.project(batchOf(log.erase(erasure)))
    },
  }
}

/** One admin API for all tests of a file, and the headers of a session of its operator. */
export function adminForAllTests(
  use: (given: { harness: AdminHarness; headers: Record<string, string> }) => void,
  options?: Parameters<typeof startAdmin>[0],
): void {
  beforeAll(async () => {
    const harness = await startAdmin(options)
    use({ harness, headers: await harness.createSession() })
  })
}

/** The start of an endless response; the rest is not awaited. */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return Buffer.from(first?.value ?? []).toString()
}

export function bearer(secret: string): Record<string, string> {
  return { Authorization: `Bearer ${secret}` }
}

type Changes = Partial<PositionReported>
type BodyInit = NonNullable<RequestInit['body']>

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly code?: number
    readonly error?: string
    readonly message?: string
    readonly details?: readonly { field: string; message: string }[]
    /** Tests specify the shape for their call. */
    readonly data?: Data
  }
}

export type Data = { readonly [name: string]: unknown } & {
  readonly items?: readonly Record<string, unknown>[]
  readonly nextCursor?: string | null
}

const NO_BODY: Answer['body'] = {}

/** The log of a store whose facts are in a topic elsewhere. */
export const NO_FACTS: FactLog = {
  async *tail() {},
  extent: async () => [],
  placeBefore: async () => ({}),
}
