import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createAdminApp } from '../../admin-api/app.ts'
import { hashPassword } from '../../admin-api/password.ts'
import { serveHttp } from '../../runtime/http-server.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/api-key.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { openSqliteStore } from '../../store/sqlite-store.ts'
import type { ApiKey, Operator, Store } from '../../store/store.ts'
import { batchOf, LogOfOneSuite } from '../contracts/store-samples.ts'
import { positionReported, T0 } from '../samples.ts'

export type AdminHarness = Awaited<ReturnType<typeof startAdmin>>

export const PASSWORD = 'correct horse battery staple'
const hashed = hashPassword(PASSWORD)

/**
 * The admin API on a real socket, with a store in a folder of its own: accounts acc-1 and acc-2, and
 * one operator, `ana@example.org`, an admin of acc-1 unless `operator` says otherwise. The clock
 * stands still at T0 + 1 h unless it is moved. Everything that is logged is kept.
 */
export async function startAdmin({
  operator = {},
  trustProxy = 0,
  wrapStore = (store: Store): Store => store,
}: {
  operator?: Partial<Operator>
  trustProxy?: number
  wrapStore?: (store: Store) => Store
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'gps-admin-'))
  const clock = { time: T0 + 3_600_000, now: () => clock.time }
  const store = openSqliteStore({ directory })
  const logged: string[] = []
  const stopping = new AbortController()
  const person: Operator = {
    id: 'op-1',
    accountId: 'acc-1',
    email: 'ana@example.org',
    role: 'admin',
    platform: false,
    passwordHash: await hashed,
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
      clock,
      logger: pino({ level: 'trace' }, { write: (line: string) => logged.push(line) }),
      metrics: createMetrics(),
      stopping: stopping.signal,
      trustProxy,
    }),
    host: '127.0.0.1',
    port: 0,
    graceMs: 500,
  })
  const log = new LogOfOneSuite()
  let made = 0

  async function request(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(server.url + path, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isText ? (body as BodyInit) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
    const parsed = isJson && text !== '' ? (JSON.parse(text) as Answer['body']) : undefined
    return { status: response.status, headers: response.headers, text, body: parsed ?? NO_BODY }
  }

  return {
    url: server.url,
    clock,
    store,
    logged,
    stopping,
    operator: person,
    request,

    /** The path is under /api/v1. */
    api: (method: string, path: string, options: Parameters<typeof request>[2] = {}) =>
      request(method, `/api/v1${path}`, options),

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

    /** A session of the operator begun now; gives what a page of the console sends with it. */
    async createSession(): Promise<{ Cookie: string; 'X-Requested-With': string }> {
      made += 1
      const token = Buffer.alloc(16, `session ${made}`).toString('base64url')
      const now = clock.now()
      await store.createSession({
        tokenHash: secretHash(token),
        operatorId: person.id,
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

    async close() {
      await server.close()
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
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
    /** Of whatever shape the call has; tests say which. */
    readonly data?: Data
  }
}

export type Data = { readonly [name: string]: unknown } & {
  readonly items?: readonly Record<string, unknown>[]
  readonly nextCursor?: string | null
}

const NO_BODY: Answer['body'] = {}
