import { eventually } from './eventually.ts'
import { listens, startProgram } from './programs.ts'
import type { RunningProgram } from './running-programs.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const OPERATOR = { email: 'ops@example.com', password: 'correct horse battery staple' }

/** The whole running service, in any number of processes. */
export type Deployment = {
  readonly ingestUrl: string
  readonly adminUrl: string
  /** A key that may report positions and read everything. */
  readonly key: string
  readonly programs: readonly RunningProgram[]
  /** Stops every process as an operator would, and restarts all on the same data. */
  restart(): Promise<Deployment>
  /** Sends SIGTERM to every process; returns their exit codes. */
  stop(): Promise<(number | NodeJS.Signals)[]>
  /** Kills all processes and removes their data. */
  remove(): Promise<void>
}

/** The service as started by `npm start`, in a new folder. */
export async function startEmbeddedDeployment(env: NodeJS.ProcessEnv = {}): Promise<Deployment> {
  const directory = await temporaryDirectory()
  const start = async (): Promise<Deployment> => {
    const program = startProgram('embedded/main', {
      env: {
        ...operatorEnv(),
        DATA_DIR: directory.path,
        INGEST_PORT: '0',
        ADMIN_PORT: '0',
        ...env,
      },
    })
    const [ingestUrl, adminUrl] = [
      await listens(program, 'ingest API'),
      await listens(program, 'admin API'),
    ]
    return deployment({ ingestUrl, adminUrl, programs: [program], start, remove: directory.remove })
  }
  return start()
}

/** The three services as separate processes, on Kafka and MongoDB. */
export async function startDistributedDeployment(services: {
  brokers: readonly string[]
  topicPrefix: string
  mongodbUrl: string
  registryUrl?: string
  /** Additional variables for every process. */
  env?: Record<string, string>
}): Promise<Deployment> {
  const env = {
    ...operatorEnv(),
    KAFKA_BROKERS: services.brokers.join(','),
    KAFKA_TOPIC_PREFIX: services.topicPrefix,
    MONGODB_URL: services.mongodbUrl,
    ...(services.registryUrl !== undefined && { SCHEMA_REGISTRY_URL: services.registryUrl }),
    INGEST_PORT: '0',
    ADMIN_PORT: '0',
    PROJECTOR_PORT: '0',
    ...services.env,
  }
  const start = async (): Promise<Deployment> => {
    const ingest = startProgram('ingest-api/main', { env })
    const projector = startProgram('projector/main', { env })
    const admin = startProgram('admin-api/main', { env })
    const ingestUrl = await listens(ingest, 'ingest API')
    const adminUrl = await listens(admin, 'admin API')
    const projectorUrl = await listens(projector, 'projector')
    for (const url of [ingestUrl, adminUrl, projectorUrl]) await ready(url)
    const programs = [ingest, projector, admin]
    return deployment({ ingestUrl, adminUrl, programs, start, remove: async () => undefined })
  }
  return start()
}

async function deployment({
  ingestUrl,
  adminUrl,
  programs,
  start,
  remove,
}: {
  ingestUrl: string
  adminUrl: string
  programs: readonly RunningProgram[]
  start: () => Promise<Deployment>
  remove: () => Promise<void>
}): Promise<Deployment> {
  const end = (signal: NodeJS.Signals) => {
    for (const program of programs) program.process.kill(signal)
    return Promise.all(programs.map((program) => program.ended))
  }
  return {
    ingestUrl,
    adminUrl,
    key: await createKey(adminUrl),
    programs,
    stop: () => end('SIGTERM'),
    async restart() {
      await end('SIGTERM')
      return start()
    },
    async remove() {
      await end('SIGKILL')
      await remove()
    },
  }
}

/** The first operator, in the programs' environment. */
export function operatorEnv() {
  return {
    ADMIN_EMAIL: OPERATOR.email,
    ADMIN_PASSWORD: OPERATOR.password,
    // Here one key reads everything repeatedly, and few devices report a lot; the limits have tests
    // of their own.
    RATE_LIMIT_ADMIN: 'off',
    RATE_LIMIT_DEVICE: 'off',
  }
}

/** Sends a report with a key, as a device does. */
export async function submitTo(ingestUrl: string, key: string, report: object) {
  const answer = await fetch(`${ingestUrl}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(report),
  })
  const { data } = (await answer.json()) as { data?: { recordId: string } }
  return { status: answer.status, headers: answer.headers, recordId: data?.recordId }
}

/** Resolves when the service at `url` is ready. */
export async function ready(url: string): Promise<void> {
  await eventually(
    async () => {
      const answer = await fetch(`${url}/readyz`)
      if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
      return true
    },
    { withinMs: 60_000, everyMs: 100 },
  )
}

/** Signs in as the first operator and creates a key, as a person would. Returns its secret. */
export async function createKey(adminUrl: string): Promise<string> {
  return (await (await signIn(adminUrl)).createKey()).key
}

/** A signed-in operator: the first one unless `credentials` are given. */
export async function signIn(adminUrl: string, credentials: object = OPERATOR) {
  // After a start, calls are rejected while the log is read for erasures.
  await ready(adminUrl)
  const headers = { 'Content-Type': 'application/json', 'X-Requested-With': 'console' }
  const signedIn = await eventually(async () => {
    const answer = await fetch(`${adminUrl}/api/v1/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify(credentials),
    })
    return answer.ok && answer
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''

  /** Returns the response's data; throws if the call fails. */
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(`${adminUrl}/api/v1${path}`, {
      method,
      headers: {
        Cookie: cookie,
        'X-Requested-With': 'console',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (JSON.parse(text) as { data: T }).data
  }

  return {
    /** The value of the cookie. */
    session: cookie.split('=')[1] ?? '',
    call,
    createKey: (changes: object = {}) =>
      call<{ id: string; key: string }>('POST', '/keys', {
        name: 'story',
        scopes: ['positions:write', 'positions:read', 'devices:read'],
        ...changes,
      }),
    revokeKey: (id: string) => call('POST', `/keys/${id}/revoke`),
    eraseDevice: (deviceId: string) => call('DELETE', `/devices/${encodeURIComponent(deviceId)}`),
  }
}
