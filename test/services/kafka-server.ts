import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { eventually } from '../eventually.ts'
import { containerHost, startContainer } from './containers.ts'
import { freePort, startProcess, type OwnServer, type ServerOptions } from './own-server.ts'
import { scramUsers, securedSettings, type KafkaSecurity } from './kafka-security.ts'
import { KAFKA_VERSION, kafkaJars, provide } from './programs.ts'

/**
 * Starts one broker (KRaft), about 8 s. It does not auto-create topics. With an `advertisedPort`,
 * clients connect there after their first request: to an existing proxy.
 */
export async function startKafka(
  options: ServerOptions & {
    readonly advertisedPort?: number
    /** Accepts only clients that use TLS and sign in. Always a process, never a container. */
    readonly secured?: KafkaSecurity
    /** Runs as with Kafka's start script, for measurements; by default it starts faster. */
    readonly isMeasured?: boolean
  } = {},
): Promise<OwnServer & { brokers: string[] }> {
  const port = options.port ?? (await freePort())
  const { secured } = options
  const host = secured === undefined ? await containerHost() : undefined
  if (host !== undefined) {
    const brokers = [`${host}:${options.advertisedPort ?? port}`]
    const server = await startContainer({
      image: `apache/kafka:${KAFKA_VERSION}`,
      port,
      containerPort: 9092,
      environment: containerEnvironment(brokers),
      answers: () => kafkaAnswers(brokers),
    })
    if (server !== undefined) return Object.assign(server, { brokers })
  }
  const advertisedPort = options.advertisedPort ?? port
  const brokers = [`127.0.0.1:${advertisedPort}`]
  const server = await startProcess('kafka', options, async (dataDir) => {
    const settings = processSettings({
      dataDir,
      port,
      advertisedPort,
      controllerPort: await freePort(),
    })
    if (secured !== undefined) Object.assign(settings, securedSettings(settings, secured))
    const start = await formatted({
      dataDir,
      settings,
      clusterId: newClusterId(),
      users: secured === undefined ? [] : scramUsers(secured),
      ...(options.isMeasured === true && { jvm: MEASURED_JVM }),
    })
    return { ...start, answers: () => kafkaAnswers(brokers, secured) }
  })
  return Object.assign(server, { brokers })
}

/** Options that halve the start-up time, but cause longer pauses. */
const QUICK_JVM = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** The settings of `kafka-server-start.sh`. */
const MEASURED_JVM = [
  '-Xmx1G',
  '-Xms1G',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
]

type Node = {
  readonly dataDir: string
  readonly settings: Readonly<Record<string, string>>
  readonly clusterId: string
  readonly users?: readonly string[]
  readonly jvm?: readonly string[]
}

/** How to start a node on `dataDir`, formatting new storage. */
export async function formatted(node: Node): Promise<{ command: string; args: string[] }> {
  // A path that is the same in every copy of the project, because an archive is bound to its path.
  const classes = ['-cp', join(realpathSync(await kafkaJars()), '*')]
  const folder = await provide(`kafka-${KAFKA_VERSION}-classes`, (folder) =>
    archiveClasses(join(folder, ARCHIVE), classes).catch(() => undefined),
  )
  const archive = join(folder, ARCHIVE)
  const archived = existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []
  return startOf({ jvm: [...QUICK_JVM, ...archived], ...node }, classes)
}

const ARCHIVE = 'classes.jsa'

/** Archives the classes that a broker loads (Java CDS), which halves the work of later starts. */
async function archiveClasses(archive: string, classes: readonly string[]): Promise<void> {
  const dataDir = `${archive}.broker`
  mkdirSync(dataDir)
  const [port, controllerPort] = [await freePort(), await freePort()]
  const settings = processSettings({ dataDir, port, advertisedPort: port, controllerPort })
  const jvm = [...QUICK_JVM, `-XX:ArchiveClassesAtExit=${archive}`]
  const node = { dataDir, settings, clusterId: newClusterId(), jvm }
  const { command, args } = await startOf(node, classes)
  const broker = spawn(command, args, { stdio: 'ignore' })
  await eventually(() => kafkaAnswers([`127.0.0.1:${port}`]).then(() => true), {
    withinMs: 90_000,
  }).finally(() => broker.kill())
  await once(broker, 'exit')
  rmSync(dataDir, { recursive: true })
}

async function startOf(
  { dataDir, settings, clusterId, users = [], jvm = [] }: Node,
  classes: readonly string[],
): Promise<{ command: string; args: string[] }> {
  const properties = join(dataDir, 'server.properties')
  writeFileSync(
    properties,
    Object.entries({ ...settings, 'log.dirs': join(dataDir, 'data') })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  if (!existsSync(join(dataDir, 'data', 'meta.properties'))) {
    const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties]
    await promisify(execFile)('java', [...QUICK_JVM, ...classes, ...format, ...users])
  }
  return { command: 'java', args: [...jvm, ...classes, 'kafka.Kafka', properties] }
}

/** A cluster id is 16 bytes in base64url; it must not start with a dash. */
export function newClusterId(): string {
  return `A${randomBytes(16).toString('base64url').slice(1)}`
}

export const SETTINGS = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
  'auto.create.topics.enable': 'false',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '5',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  // So that a suite waiting for a dead member's partitions need not wait for the default 6 s.
  'group.min.session.timeout.ms': '1000',
}

function processSettings(own: {
  dataDir: string
  port: number
  advertisedPort: number
  controllerPort: number
}) {
  return {
    ...SETTINGS,
    'controller.quorum.voters': `1@127.0.0.1:${own.controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${own.port},CONTROLLER://127.0.0.1:${own.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${own.advertisedPort}`,
  }
}

/** The image reads a setting `a.b` from `KAFKA_A_B`. */
function containerEnvironment(brokers: readonly string[]): Record<string, string> {
  const settings = {
    ...SETTINGS,
    'controller.quorum.voters': '1@localhost:9093',
    listeners: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    'advertised.listeners': `PLAINTEXT://${brokers.join(',')}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'heap.opts': '-Xmx512m',
  }
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      `KAFKA_${name.replaceAll('.', '_').toUpperCase()}`,
      value,
    ]),
  )
}

export async function kafkaAnswers(brokers: string[], secured?: KafkaSecurity): Promise<void> {
  const admin = new Kafka({
    clientId: 'test-services',
    brokers,
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    retry: { retries: 0 },
    ...(secured !== undefined && {
      ssl: { ca: secured.certificate },
      sasl: { mechanism: 'plain', username: secured.username, password: secured.password },
    }),
  }).admin()
  try {
    await admin.connect()
    await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}
