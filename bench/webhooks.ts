import { randomBytes, randomUUID } from 'node:crypto'
import { DELIVERER_FEEDS, startDeliverer } from '../deliverer/service.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { FactLog } from '../event-log/fact-log.ts'
import { openFeeds } from '../event-log/reading/open-feeds.ts'
import { loadConfig } from '../runtime/config/config.ts'
import { Lifecycle } from '../runtime/process/lifecycle.ts'
import { createLogger } from '../runtime/process/logger.ts'
import { createMetrics } from '../runtime/process/metrics.ts'
import { sealedSecrets } from '../runtime/process/sealed-secrets.ts'
import { newSigningSecret } from '../schemas/access/random-secrets.ts'
import { newProgress, shownTarget } from '../schemas/subscriptions/subscription.ts'
import type { Store } from '../store/store.ts'
import { eventually } from '../test/eventually.ts'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { ownCpuMicros } from './cpu-time.ts'
import { runJob } from './fork.ts'
import type { JobTools, Order, Topics } from './order.ts'
import type { Part, Row } from './part.ts'
import { fillLog } from './projector/fill-log.ts'
import { startReceivers } from './receivers.ts'

type WebhooksOrder = {
  readonly url: string
  readonly positions: number
  /** Absent: the embedded log and store. */
  readonly kafka?: Topics & { readonly mongodbUrl: string }
}

/** The CPU time of delivering a position, and the time to read all of them as a consumer of the log. */
type WebhooksCost = { readonly cpuMicros: number; readonly consumingSeconds: number }

const BATCH = 500
const TOPICS = 'bench-webhooks'
const ALL_WITHIN_MS = 3_600_000

/** Sends a full log through one webhook, beside a consumer group that reads the same log. */
export async function measureWebhooks(order: Order): Promise<Part> {
  const { parts, positions, progress } = order
  const rows: Row[] = []
  const faults: string[] = []
  for (const part of ['webhooks-embedded', 'webhooks-kafka'] as const) {
    if (!parts.has(part)) continue
    const log = part === 'webhooks-kafka' ? 'Kafka' : 'embedded'
    progress(`webhooks: ${positions} positions, ${log}`)
    const kafka = part === 'webhooks-kafka' && (await addressesIn(order))
    const { url, received, close } = await startReceivers()
    const job = { url, positions, ...(kafka && { kafka }) }
    const { cpuMicros, consumingSeconds } = await runJob<WebhooksCost>('deliverAll', job, progress)
    close()
    if (received.items !== positions) {
      faults.push(`${log}: ${received.items} of ${positions} positions were received`)
    }
    // From the first request on: the deliverer looks for subscriptions twice a second.
    const seconds = (received.lastAt - received.firstAt) / 1_000
    const perSecond = (received.items - received.firstItems) / seconds
    rows.push({
      log,
      batch: String(BATCH),
      positions: String(positions),
      'positions/s': perSecond,
      'CPU µs/position': cpuMicros,
      'as a consumer': positions / consumingSeconds,
      '÷ consumer': (perSecond * consumingSeconds) / positions,
    })
  }
  return { title: 'Sending all positions through one webhook', rows, faults, rounds: 1 }
}

async function addressesIn(order: Order): Promise<NonNullable<WebhooksOrder['kafka']>> {
  const { brokers, mongodbUrl } = await order.servers()
  return { brokers, topicPrefix: TOPICS, mongodbUrl: mongodbUrl(TOPICS) }
}

export async function deliverAll(order: WebhooksOrder, tools: JobTools): Promise<WebhooksCost> {
  const { positions } = order
  const { progress } = tools
  const directory = await temporaryDirectory()
  const { eventLog, factLog, store } = await open(order, directory.path, tools)
  try {
    await fillLog(eventLog, { events: positions, devices: 10_000 })
    progress('webhooks: a consumer of the log')
    const consumingSeconds = await consume(eventLog, positions)
    progress('webhooks: the deliverer')
    return { consumingSeconds, cpuMicros: await deliver(order, { eventLog, factLog, store }) }
  } finally {
    await store.close()
    await eventLog.close()
    await directory.remove()
  }
}

async function open({ kafka }: WebhooksOrder, directory: string, { adapters }: JobTools) {
  if (kafka === undefined) {
    const store = adapters.openStore(directory)
    return { eventLog: adapters.openLog(directory), factLog: store.factLog, store }
  }
  const store = await adapters.openDatabase(kafka.mongodbUrl)
  const eventLog = adapters.openTopics(kafka)
  return { eventLog, factLog: eventLog.facts, store }
}

/** Seconds until a consumer group has read all positions. */
async function consume(eventLog: EventLog, positions: number): Promise<number> {
  const ending = new AbortController()
  let read = 0
  const begun = performance.now()
  let seconds = 0
  await eventLog.subscribe({
    group: 'bench-consumer',
    signal: ending.signal,
    onBatch: async ({ entries }) => {
      read += entries.length
      if (read < positions) return
      seconds = (performance.now() - begun) / 1_000
      ending.abort()
    },
  })
  return seconds
}

/** Runs the deliverer until the receiver has everything. Returns its CPU time per position. */
async function deliver(
  { url, positions }: WebhooksOrder,
  opened: { readonly eventLog: EventLog; readonly factLog: FactLog; readonly store: Store },
): Promise<number> {
  const { store } = opened
  const logger = createLogger({ level: 'error', name: 'bench' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const { stopping } = lifecycle
  const feeds = openFeeds({ ...opened, logger, stopping, options: DELIVERER_FEEDS })
  const secrets = sealedSecrets(randomBytes(32))
  const id = randomUUID()
  const target = { kind: 'webhook', url, batch: BATCH } as const
  const signing = [{ secret: newSigningSecret() }]
  await store.createSubscription({
    id,
    // That of the events in the log.
    accountId: 'bench',
    createdAt: 0,
    changedAt: 0,
    revision: 1,
    name: 'Bench',
    source: 'positions',
    everySeconds: 0,
    target: shownTarget(target),
    sealed: secrets.seal(JSON.stringify({ target, signing }), id),
    progress: newProgress(await feeds.positions.markAt('start')),
  })
  const config = loadConfig({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' })
  const cpu = ownCpuMicros()
  startDeliverer({ feeds, store, secrets }, { config, logger, lifecycle, metrics: createMetrics() })
  await eventually(async () => Number(await (await fetch(url)).text()) >= positions, {
    withinMs: ALL_WITHIN_MS,
    everyMs: 50,
  })
  const micros = cpu()
  await lifecycle.close()
  return micros / positions
}
