import type { Consumer, EachBatchPayload, KafkaMessage, OffsetsByTopicPartition } from 'kafkajs'
import { backOff } from '../../runtime/process/repeat.ts'
import { kafkaFailure, RETRY, type KafkaClient, type Logger } from './kafka-client.ts'
import { placeMember, type Placement, type StartAt } from './placement.ts'

/** After this time a dead member loses its partitions; recovery is promised within 30 s. */
const SESSION_TIMEOUT_MS = 10_000
const HEARTBEAT_MS = 2000
const MAX_WAIT_MS = 500
/** Within this time, new leaders and added partitions are noticed. */
const METADATA_MAX_AGE_MS = 5000
const CHUNK_MESSAGES = 500

/** Consecutive messages of one partition, at most 500; empty if there are only control records. */
export type Chunk = {
  readonly partition: number
  readonly messages: readonly KafkaMessage[]
  /** The offsets it covers, including control records. */
  readonly firstOffset: number
  readonly lastOffset: number
  /** Keeps the membership alive; rejects when it has been lost. */
  readonly heartbeat: () => Promise<void>
  /** Whether this member may and should still process the chunk. */
  readonly isCurrent: () => boolean
}

export type GroupMemberOptions = {
  readonly client: KafkaClient
  readonly groupId: string
  readonly topic: string
  readonly commit: boolean
  /** Called at each assignment of partitions. No chunk is processed before it has resolved. */
  readonly startAt: StartAt
  /** Resolves with whether the chunk has been processed. */
  readonly deal: (chunk: Chunk) => Promise<boolean>
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Reads a topic as a member of a group until `signal` is aborted and the current chunk is done.
 * Rejects when kafkajs has given up; then only a new client can continue.
 */
export async function joinGroup(options: GroupMemberOptions): Promise<void> {
  const { client, groupId, topic, startAt, signal, logger } = options
  if (signal.aborted) return
  const consumer = client.kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    sessionTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: MAX_WAIT_MS,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    retry: { ...RETRY, retries: 8 },
  })
  let fail: (cause: unknown) => void = () => undefined
  const crashed = new Promise<never>((_, reject) => {
    fail = (cause) => reject(kafkaFailure(`continue reading ${topic}`, cause))
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) fail(payload.error)
  })
  const placement = placeMember(consumer, { topic, startAt, onFailure: fail })
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const commit = options.commit ? commits(topic) : undefined
  passControlRecords(consumer, commit, options)
  try {
    const running = run(consumer, { commit, placement }, options)
    await Promise.race([crashed, aborted, running.then(() => Promise.race([crashed, aborted]))])
  } finally {
    // Abandoned first; otherwise a consumer about to join would carry on.
    client.abandon()
    await consumer.disconnect().catch((error: unknown) => {
      logger.debug({ err: error, groupId }, 'could not disconnect the Kafka consumer')
    })
  }
}

/** The first `connect` of kafkajs gives up; the process must survive an unavailable broker. */
async function run(consumer: Consumer, member: Member, options: GroupMemberOptions): Promise<void> {
  const { topic, groupId, signal, logger } = options
  const pauses = backOff({ firstMs: 200, longestMs: 2000 })
  for (;;) {
    try {
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      break
    } catch (error) {
      if (signal.aborted) return
      logger.warn({ err: error, groupId }, 'Kafka consumer cannot connect')
      await pauses.pause(signal)
    }
  }
  if (signal.aborted) return
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: (payload) => dealWithBatch(payload, member, options),
  })
}

type Member = { readonly commit: Commit | undefined; readonly placement: Placement }
type Commit = (partition: number, next: number, send: SendCommit) => Promise<void>
type SendCommit = (offsets: OffsetsByTopicPartition) => Promise<void>

/** Commits, one at a time and in order. */
function commits(topic: string): Commit {
  let last: Promise<void> = Promise.resolve()
  return (partition, next, send) => {
    const partitions = [{ partition, offset: String(next) }]
    const committed = last.then(() => send({ topics: [{ topic, partitions }] }))
    last = committed.catch(() => undefined)
    return committed
  }
}

/**
 * Handles batches that have only control records. kafkajs skips them without committing: the group
 * would appear to lag forever, and a live reader would never reach the end.
 */
function passControlRecords(
  consumer: Consumer,
  commit: Commit | undefined,
  { groupId, deal, signal, logger }: GroupMemberOptions,
): void {
  const sendRepeatedly: SendCommit = ({ topics }) =>
    consumer.commitOffsets(
      topics.flatMap(({ topic, partitions }) => partitions.map((one) => ({ topic, ...one }))),
    )
  consumer.on(
    consumer.events.END_BATCH_PROCESS,
    ({ payload: { batchSize, partition, firstOffset, lastOffset } }) => {
      if (batchSize > 0) return
      // Despite its type, null for a batch whose records all come before the requested one.
      const first = (firstOffset as string | null) ?? lastOffset
      const passed = { partition, firstOffset: Number(first), lastOffset: Number(lastOffset) }
      passOver(passed).catch((error: unknown) => {
        logger.warn({ err: error, groupId, partition }, 'could not skip transaction markers')
      })
    },
  )

  async function passOver(
    passed: Pick<Chunk, 'partition' | 'firstOffset' | 'lastOffset'>,
  ): Promise<void> {
    const heartbeat = () => Promise.resolve()
    const isCurrent = () => !signal.aborted
    const done = await deal({ ...passed, messages: [], heartbeat, isCurrent })
    if (done) await commit?.(passed.partition, passed.lastOffset + 1, sendRepeatedly)
  }
}

async function dealWithBatch(
  payload: EachBatchPayload,
  { commit, placement }: Member,
  options: GroupMemberOptions,
) {
  const { partition, messages } = payload.batch
  const heartbeat = () => payload.heartbeat()
  const isCurrent = () => payload.isRunning() && !payload.isStale() && !options.signal.aborted
  await placement.reached(heartbeat)
  let firstOffset = Number(payload.batch.firstOffset())
  for (let at = 0; at < messages.length && isCurrent(); at += CHUNK_MESSAGES) {
    const chunk = messages.slice(at, at + CHUNK_MESSAGES)
    // A batch may end with control records, which count as processed.
    const isLast = at + chunk.length === messages.length
    const lastOffset = Number(isLast ? payload.batch.lastOffset() : chunk.at(-1)!.offset)
    const done = await options.deal({
      partition,
      messages: chunk,
      firstOffset,
      lastOffset,
      heartbeat,
      isCurrent,
    })
    if (!done) return
    // Sent directly: `consumer.commitOffsets` would repeat it for 10 s, and drop it when stopping.
    // A failure leaves the chunk unresolved, so kafkajs delivers it again.
    await commit?.(partition, lastOffset + 1, (offsets) =>
      payload.commitOffsetsIfNecessary(offsets).catch(rejoinIfMoved),
    )
    payload.resolveOffset(chunk.at(-1)!.offset)
    firstOffset = lastOffset + 1
    await heartbeat()
  }
}

/**
 * kafkajs looks for the group's new coordinator only when it joins, and this error makes it join.
 * Otherwise nothing would be read for half a minute after its coordinator died.
 */
function rejoinIfMoved(cause: unknown): never {
  const { name } = cause as Error
  if (name !== 'KafkaJSBrokerNotFound' && name !== 'KafkaJSConnectionError') throw cause
  const type = 'NOT_COORDINATOR_FOR_GROUP'
  throw Object.assign(new Error('the group has another coordinator', { cause }), { type })
}

/** Runs `work` while keeping the membership alive; settles as `work` does. */
export async function runWithHeartbeats<T>(heartbeat: Chunk['heartbeat'], work: () => Promise<T>) {
  const beating = setInterval(() => {
    // The next awaited heartbeat or commit reports a lost membership.
    heartbeat().catch(() => undefined)
  }, HEARTBEAT_MS / 2)
  try {
    return await work()
  } finally {
    clearInterval(beating)
  }
}
