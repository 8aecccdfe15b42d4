import type { Candidate } from './candidates/candidate.ts'
import { startEmbeddedCandidate, type EmbeddedFiles } from './candidates/embedded.ts'
import { startKafkaCandidate, type OpenTopics } from './candidates/kafka.ts'
import { startServers, type Servers } from './candidates/servers.ts'
import { measureFacts, REPORTING, type FactsOrder } from './facts/measure.ts'
import type { Options, PartName } from './options.ts'
import { inOwnProcess } from './fork.ts'
import { measured, type MeasuredPart, type Part, type Row } from './part.ts'
import type { BenchProgress } from './progress.ts'
import { measureProjector } from './projector/measure.ts'
import { measureReadable } from './readable.ts'
import { measureReads } from './reads/measure.ts'
import { measureSenders } from './senders.ts'
import { measureSubmit } from './submit.ts'
import { measureWebhooks } from './webhooks/measure.ts'

const NEED_SERVERS: readonly PartName[] = ['kafka', 'senders', 'mongodb', 'webhooks-kafka']

type Tools = {
  readonly openFiles: (directory: string) => EmbeddedFiles
  readonly openTopics: OpenTopics
  readonly progress: BenchProgress
}

type Order = Options & Tools & { readonly servers: () => Servers }

/** Measures the chosen parts, one after the other, and runs the servers that they need. */
export async function runParts(options: Options, tools: Tools): Promise<MeasuredPart[]> {
  const { parts, rounds } = options
  let started: Servers | undefined
  if (NEED_SERVERS.some((part) => parts.has(part))) {
    tools.progress('starting Kafka, a schema registry and a MongoDB server')
    started = await startServers()
  }
  const servers = () => {
    if (started === undefined) throw new Error('this part needs servers')
    return started
  }
  const order: Order = { ...options, ...tools, servers }
  const has = (...names: readonly PartName[]) => names.some((name) => parts.has(name))
  try {
    return [
      ...(has('embedded', 'kafka') ? [measured(await submit(order), rounds)] : []),
      ...(has('senders') ? [measured(await senders(order), rounds)] : []),
      ...(has('readable') ? [measured(await readable(order), 1)] : []),
      ...(has('sqlite', 'mongodb') ? [measured(await projector(order), rounds)] : []),
      ...(has('places') ? [measured(await places(order), 1)] : []),
      ...(has('facts') ? [measured(await facts(order), rounds)] : []),
      ...(has('webhooks-embedded', 'webhooks-kafka') ? [measured(await webhooks(order), 1)] : []),
      ...(has('reads') ? [measured(await reads(order), 1)] : []),
    ]
  } finally {
    await started?.stop()
  }
}

async function places({ progress }: Order): Promise<Part> {
  progress('names of places')
  const row = await inOwnProcess<Row>('places/main.ts', {}, progress)
  return { title: 'Naming places', rows: [row], faults: [] }
}

async function submit(order: Order): Promise<Part> {
  const { parts, progress, openFiles, openTopics } = order
  const services: Candidate[] = []
  try {
    if (parts.has('embedded')) {
      progress('starting: embedded')
      services.push(await startEmbeddedCandidate(openFiles))
    }
    for (const format of parts.has('kafka') ? (['JSON', 'Avro'] as const) : []) {
      progress(`starting: ingest API on Kafka, ${format}`)
      services.push(await startKafkaCandidate(format, order.servers(), openTopics))
    }
    return await measureSubmit(services, order)
  } finally {
    for (const service of services) await service.stop()
  }
}

async function senders(order: Order): Promise<Part> {
  order.progress('starting: ingest API on Kafka, for senders')
  const service = await startKafkaCandidate(
    ...(['JSON', order.servers(), order.openTopics, 'bench-senders'] as const),
  )
  try {
    return await measureSenders(service, order)
  } finally {
    await service.stop()
  }
}

async function readable({ seconds, progress, openFiles }: Order): Promise<Part> {
  progress('starting: embedded, for how soon reports are readable')
  const service = await startEmbeddedCandidate(openFiles)
  try {
    await measureReadable(service, { seconds })
    progress('how soon reports are readable')
    return await measureReadable(service, { seconds: 10 * seconds })
  } finally {
    await service.stop()
  }
}

async function projector({ parts, short, rounds, progress, servers }: Order): Promise<Part> {
  const rows: Row[] = []
  if (parts.has('sqlite')) {
    const events = short ? 20_000 : 100_000
    const order = { store: 'SQLite', events, devices: 10_000, rounds } as const
    rows.push(await measureProjector(order, progress))
  }
  if (parts.has('mongodb')) {
    const { brokers, ...started } = servers()
    const order = {
      ...({ store: 'MongoDB', devices: 1_000, rounds } as const),
      events: short ? 2_000 : 10_000,
      brokers,
      topicPrefix: 'bench-projector',
      mongodbUrl: started.mongodbUrl(''),
    }
    rows.push(await measureProjector(order, progress))
  }
  return { title: 'Projecting a full log', rows, faults: [] }
}

async function facts({ parts, short, rounds, progress, servers }: Order): Promise<Part> {
  const rows: Row[] = []
  const devices = short ? 1_000 : 10_000
  for (const reporting of Object.keys(REPORTING) as FactsOrder['reporting'][]) {
    const order = { reporting, devices, events: 11 * devices, rounds, geofences: [0, 10_000] }
    rows.push(...(await measureFacts(order, progress)))
  }
  if (parts.has('mongodb')) {
    const mongodbUrl = servers().mongodbUrl('')
    // Few: the stand-in for MongoDB is slow.
    const order = { reporting: '10 s', devices: 200, events: 2_200, rounds, mongodbUrl } as const
    rows.push(...(await measureFacts({ ...order, geofences: [0] }, progress)))
  }
  if (!short) {
    const order = { reporting: '2 h', devices: 1e6, events: 1.2e6, rounds: 1 } as const
    rows.push(...(await measureFacts({ ...order, geofences: [10_000] }, progress)))
  }
  return { title: 'Deciding facts', rows, faults: [] }
}

function webhooks({ parts, positions, progress, servers }: Order): Promise<Part> {
  const size = { positions, batch: 500 }
  const orders: Parameters<typeof measureWebhooks>[0][number][] = []
  if (parts.has('webhooks-embedded')) orders.push(size)
  if (parts.has('webhooks-kafka')) {
    const started = servers()
    const kafka = {
      brokers: started.brokers,
      topicPrefix: 'bench-webhooks',
      mongodbUrl: started.mongodbUrl('bench-webhooks'),
    }
    orders.push({ ...size, kafka })
  }
  return measureWebhooks(orders, progress)
}

function reads({ short, progress }: Order): Promise<Part> {
  const [few, many] = short ? [1e4, 1e5] : [1e5, 1e7]
  return measureReads(
    [
      { records: few, devices: few / 100 },
      { records: many, devices: many / 10 },
    ],
    progress,
  )
}
