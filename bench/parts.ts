import type { Candidate } from './candidates/candidate.ts'
import { startEmbeddedCandidate, type EmbeddedFiles } from './candidates/embedded.ts'
import { startKafkaCandidate, type OpenTopics } from './candidates/kafka.ts'
import { startServers, type Servers } from './candidates/servers.ts'
import {
  measureService,
  measureStore,
  type DevicesRow,
  type HistoryRow,
  type MemoryRow,
} from './growth/measure.ts'
import type { Options, PartName } from './options.ts'
import { measureProjector, type ProjectorOrder } from './projector/measure.ts'
import type { Progress } from './progress.ts'
import { measureReadable } from './readable/measure.ts'
import type { Parts } from './measured.ts'
import { measured } from './result.ts'
import { measureSenders } from './senders/measure.ts'
import { runSubmit } from './submit/run.ts'

const NEED_SERVERS: readonly PartName[] = ['kafka', 'senders', 'mongodb', 'growth']

type Tools = {
  readonly openFiles: (directory: string) => EmbeddedFiles
  readonly openTopics: OpenTopics
  readonly progress: Progress
}

/** Measures the chosen parts, one after the other; what they need runs meanwhile. */
export async function runParts(options: Options, tools: Tools): Promise<Parts> {
  if (!NEED_SERVERS.some((part) => options.parts.has(part))) {
    return onServers(undefined, options, tools)
  }
  tools.progress('starting Kafka, a schema registry and a MongoDB server')
  const servers = await startServers()
  try {
    return await onServers(servers, options, tools)
  } finally {
    await servers.stop()
  }
}

async function onServers(
  servers: Servers | undefined,
  options: Options,
  tools: Tools,
): Promise<Parts> {
  const { parts, rounds } = options
  return {
    ...((parts.has('embedded') || parts.has('kafka')) && {
      submit: measured(await submit(servers, options, tools), rounds),
    }),
    ...(parts.has('senders') &&
      servers !== undefined && {
        senders: measured(await senders(servers, options, tools), rounds),
      }),
    ...(parts.has('readable') && { readable: measured(await readable(options, tools), 1) }),
    ...((parts.has('sqlite') || parts.has('mongodb')) && {
      projector: measured(await projector(servers, options, tools), rounds),
    }),
    ...(parts.has('growth') && { growth: measured(await growth(servers, options, tools), 1) }),
    ...(parts.has('history') && { history: measured(await history(options, tools), 1) }),
  }
}

async function submit(servers: Servers | undefined, options: Options, tools: Tools) {
  const { progress, openFiles, openTopics } = tools
  const services: Candidate[] = []
  try {
    if (options.parts.has('embedded')) {
      progress('starting: embedded')
      services.push(await startEmbeddedCandidate(openFiles))
    }
    if (options.parts.has('kafka') && servers !== undefined) {
      for (const format of ['JSON', 'Avro'] as const) {
        progress(`starting: ingest API on Kafka, ${format}`)
        services.push(await startKafkaCandidate(format, servers, openTopics))
      }
    }
    return await runSubmit(services, { ...options, progress })
  } finally {
    for (const service of services) await service.stop()
  }
}

async function senders(servers: Servers, options: Options, { progress, openTopics }: Tools) {
  progress('starting: ingest API on Kafka, for senders')
  const service = await startKafkaCandidate('JSON', servers, openTopics, 'bench-senders')
  try {
    return await measureSenders(service, { ...options, progress })
  } finally {
    await service.stop()
  }
}

async function readable({ seconds }: Options, { progress, openFiles }: Tools) {
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

async function projector(
  servers: Servers | undefined,
  { parts, short, rounds }: Options,
  { progress }: Tools,
) {
  const orders: ProjectorOrder[] = []
  if (parts.has('sqlite')) {
    orders.push({ store: 'SQLite', events: short ? 20_000 : 100_000, devices: 10_000, rounds })
  }
  if (parts.has('mongodb') && servers !== undefined) {
    orders.push({
      ...{ store: 'MongoDB', events: short ? 2_000 : 10_000, devices: 1_000, rounds },
      ...{ brokers: servers.brokers, topicPrefix: 'bench-projector' },
      mongodbUrl: servers.mongodbUrl(''),
    })
  }
  const rows = []
  for (const order of orders) rows.push(await measureProjector(order, progress))
  return { rows, faults: [] }
}

async function growth(servers: Servers | undefined, { short, seconds }: Options, tools: Tools) {
  const { progress, openFiles, openTopics } = tools
  const counts = short ? [1e3, 1e4] : [1e3, 1e5, 1e6]
  const stores: DevicesRow[] = []
  for (const devices of counts) {
    progress(`SQLite store: ${devices} devices`)
    stores.push(await measureStore<DevicesRow>({ kind: 'devices', devices }))
  }
  const services: MemoryRow[] = []
  const measure = async (service: Candidate) => {
    try {
      services.push(...(await measureService(service, counts, { seconds, progress })))
    } finally {
      await service.stop()
    }
  }
  await measure(await startEmbeddedCandidate(openFiles))
  if (servers !== undefined) await measure(await startKafkaCandidate('JSON', servers, openTopics))
  return { stores, services, faults: [] }
}

async function history({ short }: Options, { progress }: Tools) {
  const rows: HistoryRow[] = []
  for (const records of short ? [1e4, 1e5] : [1e5, 1e7]) {
    progress(`SQLite store: ${records} records`)
    rows.push(await measureStore<HistoryRow>({ kind: 'history', records }))
  }
  return { rows, faults: [] }
}
