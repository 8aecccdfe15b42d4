import { createKey, operatorEnv, ready, signIn } from '../deployments.ts'
import { listens, startProgram } from '../programs.ts'
import type { RunningProgram } from '../running-programs.ts'
import type { Services } from '../services/describe-with.ts'
import { kafkaProxy } from '../services/kafka-proxy.ts'
import { freePort } from '../services/own-server.ts'

const PROGRAMS = {
  'ingest-1': { program: 'ingest-api/main', listens: 'ingest API' },
  'ingest-2': { program: 'ingest-api/main', listens: 'ingest API' },
  'projector-1': { program: 'projector/main', listens: 'projector' },
  'projector-2': { program: 'projector/main', listens: 'projector' },
  admin: { program: 'admin-api/main', listens: 'admin API' },
} as const

export type Part = keyof typeof PROGRAMS
/** The settings of one program beyond the shared ones. */
type StartSettings = { readonly envOf?: (part: Part) => Readonly<Record<string, string>> }
export type DistributedService = Awaited<ReturnType<typeof startDistributedService>>

/**
 * Two ingest APIs, two projectors and an admin API on a separate broker and MongoDB server,
 * each on a fixed port, so that any of them can be killed and restarted.
 */
export async function startDistributedService(
  { ownKafka, ownMongodb }: Pick<Services, 'ownKafka' | 'ownMongodb'>,
  settings: StartSettings = {},
) {
  const proxy = await kafkaProxy()
  const brokerPort = await freePort()
  proxy.forwardTo(brokerPort)
  const kafka = await ownKafka({ port: brokerPort, advertisedPort: proxy.port })
  const mongodb = await ownMongodb()
  const closeServers = async () => {
    await kafka.kill()
    await proxy.close()
    await mongodb.kill()
  }
  const starting = startPrograms({ brokers: kafka.brokers, mongodb, ...settings })
  const programs = await starting.catch(async (error: unknown) => {
    await closeServers()
    throw error
  })
  return {
    ...programs,
    kafka,
    /** The proxy of all the programs' traffic with the broker. */
    kafkaLine: proxy,
    mongodb,
    async close(): Promise<void> {
      await programs.close()
      await closeServers()
    },
  }
}

/** The five programs, on an existing Kafka and MongoDB. */
export async function startPrograms({
  brokers,
  mongodb,
  envOf = () => ({}),
}: StartSettings & {
  brokers: readonly string[]
  mongodb: { readonly url: string }
}) {
  const running = new Map<Part, RunningProgram>()
  const urls = new Map<Part, string>()
  const ports = new Map<Part, number>()
  for (const part of Object.keys(PROGRAMS) as Part[]) ports.set(part, await freePort())

  const env = {
    ...operatorEnv(),
    KAFKA_BROKERS: brokers.join(','),
    MONGODB_URL: mongodb.url,
    // A few devices report without pause, and all keys, revoked ones too, come from one address.
    RATE_LIMIT_DEVICE: 'off',
    RATE_LIMIT_AUTH: 'off',
  }

  async function start(part: Part): Promise<void> {
    const port = String(ports.get(part))
    const program = startProgram(PROGRAMS[part].program, {
      env: {
        ...env,
        INGEST_PORT: port,
        ADMIN_PORT: port,
        PROJECTOR_PORT: port,
        ...envOf(part),
      },
    })
    running.set(part, program)
    urls.set(part, await listens(program, PROGRAMS[part].listens))
  }

  async function end(part: Part, signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const program = running.get(part)
    if (program === undefined) throw new Error(`${part} does not run`)
    program.process.kill(signal)
    return program.ended
  }

  async function close(): Promise<void> {
    for (const program of running.values()) program.process.kill('SIGKILL')
    await Promise.all([...running.values()].map((program) => program.ended))
  }

  const url = (part: Part) => urls.get(part) ?? ''
  try {
    for (const part of Object.keys(PROGRAMS) as Part[]) await start(part)
    for (const part of Object.keys(PROGRAMS) as Part[]) {
      await ready(url(part)).catch((cause: unknown) => {
        throw new Error(`${part} is not ready:\n${running.get(part)?.output()}`, { cause })
      })
    }
  } catch (error) {
    await close()
    throw error
  }

  return {
    ...(await signIn(url('admin'))),
    key: await createKey(url('admin')),
    adminUrl: url('admin'),
    ingestUrls: [url('ingest-1'), url('ingest-2')] as const,
    url,
    start,
    end,
    rebuild: () => startProgram('commands/rebuild/main', { env }),
    program: (part: Part) => running.get(part) as RunningProgram,
    close,
  }
}
