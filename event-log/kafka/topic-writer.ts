import { gatheringWriter, waitingRoom, type GatheringWriter } from '../gathering-writer.ts'
import { unavailableError, type KafkaClient, type Logger } from './kafka-client.ts'
import { EncodedRecord, type LogMessage } from './kafkajs/encoded-record.ts'
import { MESSAGE_OVERHEAD_BYTES } from './event-format.ts'
import { partitionOf, type Partition } from './partitions.ts'
import { batchProducer, type BatchProducer } from './producer.ts'
import { sum } from '../../runtime/sum.ts'

/** After this time a caller gets a retriable error. */
const DEADLINE_MS = 5000
/** A producer without confirmed writes for this long after its last attempt counts as stuck. */
const STUCK_UNTIL_MS = 10_000
const MAX_SEND_BYTES = 900_000

export type TopicWriter<Item> = {
  /**
   * Resolves once all items are durable; items with the same key keep their order.
   * @throws {DependencyError} retriable: overloaded, closing, a partition that is unavailable, or
   *   not confirmed within `deadlineMs`.
   */
  write(items: readonly Item[]): Promise<void>
  /** The time for which nothing has been confirmed despite attempts to write; otherwise 0. */
  stuckMs(): number
  /** Rejects new writes; resolves once every earlier one has settled. */
  close(): Promise<void>
}

export type TopicWriterOptions<Item> = {
  readonly newClient: (options: { retries: number }) => KafkaClient
  readonly topic: string
  /** The last known partitions; available once `awaitReady` has resolved. */
  readonly partitions: () => readonly Partition[]
  /** The number of replicas that must be in sync for a write. */
  readonly minInSync: () => number
  readonly whenReady: Promise<void>
  /** Approximate size in bytes, before the item is encoded. */
  readonly sizeOf: (item: Item) => number
  readonly toMessage: (item: Item) => LogMessage
  readonly logger: Logger
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly bounds?: Parameters<typeof waitingRoom>[0]
  /** Default: 5 s. */
  readonly deadlineMs?: number | undefined
  /** Marks a failure of a write. */
  readonly mark?: (error: unknown) => unknown
}

/**
 * Writes to one topic. Each item's partition is chosen once, here, and each leading broker has its
 * own producer. So an unresponsive broker delays only its own items, and items of a partition
 * without a leader are rejected immediately.
 */
export function topicWriter<Item>({
  newClient,
  topic,
  partitions,
  minInSync,
  whenReady,
  sizeOf,
  toMessage,
  logger,
  now,
  bounds,
  deadlineMs = DEADLINE_MS,
  mark = (error) => error,
}: TopicWriterOptions<Item>): TopicWriter<Item> {
  const room = waitingRoom(bounds)
  const lanes = new Map<number, Lane>()
  let ready = false
  let closed = false
  whenReady.then(
    () => (ready = true),
    () => undefined,
  )

  return {
    async write(items) {
      if (closed) throw unavailableError('the event log is closing')
      const begun = now()
      try {
        if (!ready) await waitForLeaders(items)
        const withinMs = deadlineMs - (now() - begun)
        await Promise.all(
          Array.from(groupByLeader(items), ([leader, { records, bytes }]) =>
            openLane(leader).write(records, bytes, withinMs),
          ),
        )
      } catch (error) {
        throw mark(error)
      }
    },

    stuckMs() {
      const tried = [...lanes.values()].flatMap((lane) => lane.unconfirmedMs() ?? [])
      return tried.length === 0 ? 0 : Math.min(...tried)
    },

    async close() {
      closed = true
      await Promise.all([...lanes.values()].map((lane) => lane.close()))
    },
  }

  /** Partitions cannot be chosen before the topic is known; callers wait within the same limits. */
  async function waitForLeaders(items: readonly Item[]): Promise<void> {
    const bytes = sum(items.map(sizeOf))
    if (!room.enter(items.length, bytes)) throw unavailableError('the event log is overloaded')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(unavailableError(`the event log did not write within ${deadlineMs} ms`))
      }, deadlineMs)
    })
    try {
      await Promise.race([whenReady, late])
    } finally {
      clearTimeout(timer)
      room.leave(items.length, bytes)
    }
  }

  /** @throws {DependencyError} when an item's partition is unavailable. */
  function groupByLeader(items: readonly Item[]): Map<number, Placed> {
    const known = partitions()
    if (known.length === 0) throw unavailableError(`the topic ${topic} is not there`)
    const least = minInSync()
    const placed = new Map<number, Placed>()
    for (const item of items) {
      const message = toMessage(item)
      const partition = partitionOf(message.key ?? null, known)
      const { leader, inSync = 0 } = known[partition] ?? {}
      if (leader === undefined) throw unavailableError(`partition ${partition} has no leader`)
      if (inSync < least) {
        throw unavailableError(`partition ${partition} has too few replicas in sync`)
      }
      const record = new EncodedRecord(message, partition)
      const together = placed.get(leader)
      if (together === undefined) placed.set(leader, { records: [record], bytes: record.bytes })
      else {
        together.records.push(record)
        together.bytes += record.bytes
      }
    }
    return placed
  }

  function openLane(leader: number): Lane {
    const known = lanes.get(leader)
    if (known !== undefined) return known
    const lane = newLane(batchProducer({ newClient, topic, logger }))
    lanes.set(leader, lane)
    return lane
  }

  function newLane(producer: BatchProducer): Lane {
    let unconfirmedSince: number | undefined
    let triedAt = -Infinity
    const writer = gatheringWriter<EncodedRecord>({
      keyOf: ({ key }) => key,
      room,
      deadlineMs,
      async writeBatch(records) {
        triedAt = Infinity
        unconfirmedSince ??= now()
        try {
          for (const part of parts(records)) await producer.send(part)
          unconfirmedSince = undefined
        } finally {
          triedAt = now()
        }
      },
    })
    return {
      write: (records, bytes, withinMs) => writer.write(records, bytes, withinMs),
      unconfirmedMs() {
        if (now() - triedAt > STUCK_UNTIL_MS) return undefined
        return unconfirmedSince === undefined ? 0 : now() - unconfirmedSince
      },
      async close() {
        await writer.close()
        await producer.close()
      },
    }
  }
}

/** The records for one broker. */
type Placed = { readonly records: EncodedRecord[]; bytes: number }
type Lane = GatheringWriter<EncodedRecord> & {
  /** The time for which nothing has been confirmed; undefined without recent attempts. */
  unconfirmedMs(): number | undefined
}

function* parts(records: readonly EncodedRecord[]): Generator<readonly EncodedRecord[]> {
  let begin = 0
  let bytes = 0
  for (const [at, record] of records.entries()) {
    if (at > begin && bytes + record.bytes > MAX_SEND_BYTES) {
      yield records.slice(begin, at)
      begin = at
      bytes = 0
    }
    bytes += record.bytes
  }
  if (begin < records.length) yield records.slice(begin)
}

/** Approximate size of a message. */
export function messageBytes({ key, value }: LogMessage): number {
  return Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '') + MESSAGE_OVERHEAD_BYTES
}
