import { randomBytes, randomUUID } from 'node:crypto'
import {
  Kafka,
  logLevel,
  PartitionAssigners,
  type ITopicConfig,
  type KafkaMessage,
  type Message,
  type PartitionAssigner,
} from 'kafkajs'
import type { EventLog, LogEntry, TailItem } from '../../../event-log/event-log.ts'
import {
  openKafkaEventLog,
  type KafkaEventLogOptions,
} from '../../../event-log/kafka/kafka-event-log.ts'
import { askPartitions } from '../../../event-log/kafka/partitions.ts'
import type { Offsets } from '../../../schemas/devices/read-models.ts'
import type { OpenedEventLog } from '../../contracts/event-log-contract.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'

export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The options of a log on a test's own topics; `changes` are what the test is about. */
export function logOptions(
  changes: Partial<KafkaEventLogOptions> & Pick<KafkaEventLogOptions, 'brokers' | 'topicPrefix'>,
): KafkaEventLogOptions {
  return {
    clientId: 'test',
    logger: silent,
    clock: { now: () => Date.now() },
    onFatal(error) {
      throw error
    },
    ...changes,
  }
}

/** An empty log on its own topics, for the contract suite. */
export async function openKafka(
  options: Partial<KafkaEventLogOptions> & { brokers: readonly string[]; topicPrefix: string },
): Promise<OpenedEventLog> {
  const topicPrefix = `${options.topicPrefix}.${randomBytes(4).toString('hex')}`
  const opened: EventLog[] = []
  const open = async () => {
    const log = openKafkaEventLog(logOptions({ ...options, topicPrefix }))
    opened.push(log)
    await whenReady(log)
    // Under load, the leaders of new partitions take a while to learn their role.
    await eventually(() => Promise.all([log.extent(), log.deadLetters.count()]), {
      withinMs: 30_000,
    })
    return log
  }
  return {
    log: await open(),
    keepsOffsets: true,
    reopen: open,
    putRaw: (value, key, marks) =>
      putRaw(options.brokers, `${topicPrefix}.position-reported`, {
        key,
        value: value === null ? null : Buffer.from(value),
        headers:
          marks === undefined
            ? { ce_type: 'PositionReported.v1' }
            : { ce_type: marks.type, ce_id: marks.id, ce_time: '2026-01-01T00:00:00.000Z' },
      }),
    // The key of the samples.
    putRawRejection: (value) =>
      putRaw(options.brokers, `${topicPrefix}.report-rejected`, {
        key: 'acc-1/key-1',
        value: Buffer.from(value),
      }),
    async close() {
      await Promise.all(opened.map((log) => log.close()))
    },
  }
}

/** A log on separate topics unless they are given, closed after the test. */
export async function openLog(
  { brokers, topicPrefix: prefix }: { brokers: readonly string[]; topicPrefix: string },
  changes: Partial<KafkaEventLogOptions> = {},
) {
  const { topicPrefix = `${prefix}.${randomBytes(4).toString('hex')}` } = changes
  const log = openKafkaEventLog(logOptions({ ...changes, brokers, topicPrefix }))
  closeAfterwards(() => log.close())
  await whenReady(log)
  return { log, topicPrefix, topic: `${topicPrefix}.position-reported` }
}

/** Resolves when the log can be written to. */
export async function whenReady(log: EventLog, withinMs = 30_000): Promise<void> {
  await eventually(
    async () => {
      await log.ready()
      return true
    },
    { withinMs, everyMs: 50 },
  )
}

/** A client independent of the adapter. */
export function plainKafka(brokers: readonly string[]): Kafka {
  return new Kafka({ clientId: 'plain', brokers: [...brokers], logLevel: logLevel.NOTHING })
}

/**
 * Creates a topic. Resolves when every broker knows it and the leader of each partition answers,
 * so that no client meets it half made. The call of kafkajs for this gives up if a broker does
 * not know the topic immediately.
 */
export async function createTopic(brokers: readonly string[], config: ITopicConfig): Promise<void> {
  const { topic } = config
  const admins = brokers.map((broker) => plainKafka([broker]).admin())
  await Promise.all(admins.map((admin) => admin.connect()))
  const isNew = await admins[0]!.createTopics({ topics: [config], waitForLeaders: false })
  if (!isNew) throw new Error(`${topic} is there already`)
  for (const admin of admins) {
    await eventually(
      async () => {
        const partitions = (await askPartitions(admin, [topic])).get(topic) ?? []
        const offsets = await admin.fetchTopicOffsets(topic)
        return partitions.length > 0 && offsets.length === partitions.length
      },
      { withinMs: 30_000, everyMs: 50 },
    )
  }
  await Promise.all(admins.map((admin) => admin.disconnect()))
}

/** Writes one record behind the adapter's back. */
export async function putRaw(
  brokers: readonly string[],
  topic: string,
  message: Message,
): Promise<void> {
  const producer = plainKafka(brokers).producer()
  await producer.connect()
  await producer.send({ topic, messages: [message] })
  await producer.disconnect()
}

/** The first raw records of a topic. */
export async function readTopic(
  brokers: readonly string[],
  topic: string,
  count: number,
): Promise<KafkaMessage[]> {
  const consumer = plainKafka(brokers).consumer({ groupId: `plain-${randomUUID()}` })
  const messages: KafkaMessage[] = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    async eachMessage({ message }) {
      messages.push(message)
    },
  })
  await eventually(() => messages.length >= count, { withinMs: 30_000 })
  await consumer.disconnect()
  return messages
}

/** Joins a group as a member that others cannot share it with; returns a function to leave. */
export async function occupyGroup(
  brokers: readonly string[],
  { groupId, topic }: { groupId: string; topic: string },
): Promise<() => Promise<void>> {
  const member = plainKafka(brokers).consumer({ groupId, partitionAssigners: [unlikeOurs] })
  let joined = false
  member.on(member.events.GROUP_JOIN, () => (joined = true))
  await member.connect()
  await member.subscribe({ topic })
  await member.run({ eachMessage: () => Promise.resolve() })
  await eventually(() => joined, { withinMs: 30_000 })
  return () => member.disconnect()
}

/** Reads a log as a member of a group; a batch that `onBatch` rejects is not committed. */
export function startReading(
  log: EventLog,
  group = `group-${randomUUID()}`,
  onBatch: () => Promise<void> = () => Promise.resolve(),
) {
  const entries: LogEntry[] = []
  const ending = new AbortController()
  const ended = log.subscribe({
    group,
    signal: ending.signal,
    async onBatch(batch) {
      await onBatch()
      entries.push(...batch.entries)
    },
  })
  return {
    entries,
    group,
    ended,
    recordIds: () => recordIds(entries),
    /** The partitions that entries came from, from that entry on. */
    partitions: (from = 0) => new Set(entries.slice(from).map(({ origin }) => origin.partition)),
    stop() {
      ending.abort()
      return ended
    },
  }
}

/** Follows a log. */
export function startTailing(log: EventLog, after: Offsets | 'end') {
  const items: TailItem[] = []
  const ending = new AbortController()
  const ended = (async () => {
    for await (const item of log.tail({ after, signal: ending.signal })) items.push(item)
  })()
  const batches = () => items.flatMap((item) => (item.kind === 'batch' ? [item] : []))
  return {
    items,
    recordIds: () => recordIds(batches().flatMap(({ entries }) => entries)),
    /** Its mark, from which a reader would resume. */
    marks: (): Offsets =>
      Object.fromEntries(batches().map(({ partition, lastOffset }) => [partition, lastOffset])),
    stop() {
      ending.abort()
      return ended
    },
  }
}

function recordIds(entries: readonly LogEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'position' ? [entry.event.recordId] : []))
}

/** A member without a common assignment protocol may not join the group. */
const unlikeOurs: PartitionAssigner = (config) => {
  const assigner = PartitionAssigners.roundRobin(config)
  const name = 'UnlikeOurs'
  return {
    name,
    version: assigner.version,
    assign: (group) => assigner.assign(group),
    protocol: (subscription) => ({ ...assigner.protocol(subscription), name }),
  }
}
