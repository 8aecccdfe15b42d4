import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { leases } from '../../deliverer/run/lease.ts'
import { itemReader } from '../../deliverer/run/next-items.ts'
import { runSubscriptions } from '../../deliverer/run/run-subscriptions.ts'
import { httpClient } from '../../deliverer/send/http-client.ts'
import { itemSender } from '../../deliverer/send/send-items.ts'
import { mailSender } from '../../deliverer/send/mail.ts'
import { requestSlots } from '../../deliverer/turns.ts'
import type { EventLog } from '../../event-log/event-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import type { Feeds } from '../../event-log/feeds.ts'
import { openFeeds } from '../../event-log/reading/open-feeds.ts'
import { openKafkaEventLog } from '../../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { parseNetwork } from '../../runtime/outbound/public-address.ts'
import { sealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import { newSigningSecret } from '../../schemas/access/signing-secret.ts'
import { newProgress, shownTarget } from '../../schemas/subscriptions/subscription.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { carryOut } from '../fork.ts'
import { fillLog } from '../projector/fill-log.ts'
import type { WebhooksOrder, WebhooksRound } from './measure.ts'

const logger = createLogger({ level: 'error', name: 'bench' })
const LOOKS_EVERY_MS = 20
/** The account of the events in the log. */
const ACCOUNT_ID = 'bench'

type Opened = { readonly eventLog: EventLog; readonly factLog: FactLog; readonly store: Store }

carryOut(async (order: WebhooksOrder, progress): Promise<WebhooksRound> => {
  const directory = await temporaryDirectory()
  const { eventLog, factLog, store } = await open(order, directory.path)
  const stopping = new AbortController()
  try {
    await fillLog(eventLog, { events: order.positions, devices: 10_000 })
    progress('webhooks: a consumer of the log')
    const consumingSeconds = await consume(eventLog, order.positions)
    progress('webhooks: the deliverer')
    const feeds = openFeeds({ eventLog, factLog, store, logger, stopping: stopping.signal })
    return { consumingSeconds, ...(await deliver(order, { feeds, store, stopping })) }
  } finally {
    stopping.abort()
    await store.close()
    await eventLog.close()
    await directory.remove()
  }
})

async function open({ kafka }: WebhooksOrder, directory: string): Promise<Opened> {
  if (kafka === undefined) {
    const store = openSqliteStore({ directory, clock })
    const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
    return { eventLog, factLog: store.factLog, store }
  }
  const { brokers, topicPrefix, mongodbUrl: url } = kafka
  const eventLog = openKafkaEventLog({
    brokers: [...brokers],
    topicPrefix,
    ssl: false,
    clientId: 'gps-bench',
    clock,
    logger,
    onFatal: (error) => {
      throw error
    },
  })
  return { eventLog, factLog: eventLog.facts, store: await openMongoStore({ url, logger, clock }) }
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

async function deliver(
  { url, batch, positions }: WebhooksOrder,
  { feeds, store, stopping }: { feeds: Feeds; store: Store; stopping: AbortController },
): Promise<Pick<WebhooksRound, 'deliveringSeconds' | 'cpuMicros'>> {
  const secrets = sealedSecrets(randomBytes(32))
  const id = randomUUID()
  const target = { kind: 'webhook', url, batch } as const
  const signing = [{ secret: newSigningSecret() }]
  const now = clock.now()
  await store.createSubscription({
    id,
    accountId: ACCOUNT_ID,
    createdAt: now,
    changedAt: now,
    revision: 1,
    name: 'Bench',
    source: 'positions',
    everySeconds: 0,
    target: shownTarget(target),
    sealed: secrets.seal(JSON.stringify({ target, signing }), id),
    progress: newProgress(await feeds.positions.markAt('start')),
  })
  const end = await feeds.positions.markAt('end')
  const http = httpClient({ networks: [parseNetwork('127.0.0.0/8')!] })
  const sendMail = mailSender({ store, mailer: undefined, consoleUrl: undefined })
  const running = runSubscriptions({
    store,
    secrets,
    clock,
    logger,
    items: itemReader({ feeds, store }),
    leases: leases({ store, owner: 'bench', now: () => clock.now() }),
    send: itemSender({ http, sendMail, consoleUrl: undefined }),
    slots: requestSlots(),
    random: Math.random,
    isSuspended: () => false,
    onAttempt({ outcome, subscription }) {
      if (outcome !== 'delivered') throw new Error(subscription.progress.lastError ?? outcome)
    },
    stopping: stopping.signal,
  })
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  await running.refresh()
  const offsetsOf = (mark: string) =>
    (JSON.parse(Buffer.from(mark, 'base64url').toString()) as { offsets: object }).offsets
  const isDone = async () => {
    const found = await store.findSubscription({ accountId: ACCOUNT_ID, id })
    const offsets = offsetsOf(found?.progress.mark ?? '') as Record<string, number>
    return Object.entries(offsetsOf(end)).every(([at, offset]) => (offsets[at] ?? -1) >= offset)
  }
  while (!(await isDone())) await wait(LOOKS_EVERY_MS)
  const deliveringSeconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  stopping.abort()
  await running.ended()
  await http.close()
  return { deliveringSeconds, cpuMicros: (user + system) / positions }
}
