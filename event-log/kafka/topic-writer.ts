import type { Message } from 'kafkajs'
import { gatheringWriter, waitingRoom, type GatheringWriter } from '../gathering-writer.ts'
import { unavailable, type KafkaClient, type Logger } from './connection.ts'
import { MESSAGE_OVERHEAD_BYTES } from './event-format.ts'
import { partitionOf, type Partition } from './partitions.ts'
import { batchProducer, type BatchProducer, type PlacedMessage } from './producer.ts'

/** After this time a caller is told to try again. */
const DEADLINE_MS = 5000
/** How long after its last attempt a producer without confirmed writes still counts as stuck. */
const STUCK_UNTIL_MS = 10_000
/** kafkajs groups a batch in quadratic time, so a large one blocks the event loop. */
const MAX_SEND_MESSAGES = 1000
const MAX_SEND_BYTES = 900_000

export type TopicWriter<Item> = {
  /**
   * Resolves once all items are durable; items with the same key keep their order.
   * @throws {DependencyError} retriable: overloaded, closing, a partition that is unavailable, or
   *   not confirmed within 5 s.
   */
  write(items: readonly Item[]): Promise<void>
  /** How long nothing has been confirmed despite attempts to write; otherwise 0. */
  stuckMs(): number
  /** Refuses new writes; resolves once every earlier one has settled. */
  close(): Promise<void>
}

/**
 * Writes to one topic. Each item's partition is chosen once, here, and each leading broker has its
 * own producer. So an unresponsive broker delays only its own items, and items of a partition
 * without a leader are refused at once.
 */
export function topicWriter<Item>({
  newClient,
  topic,
  partitions,
  minInSync,
  whenReady,
  keyOf,
  sizeOf,
  toMessage,
  logger,
  now,
  bounds,
}: {
  newClient: (options: { retries: number }) => KafkaClient
  topic: string
  /** As known now; available once `whenReady` has resolved. */
  partitions: () => readonly Partition[]
  /** How many replicas must be in sync for a write. */
  minInSync: () => number
  whenReady: Promise<void>
  keyOf: (item: Item) => string | Buffer | null
  /** Approximate size in bytes. */
  sizeOf: (item: Item) => number
  toMessage: (item: Item) => Message | Promise<Message>
  logger: Logger
  /** Monotonic, in milliseconds. */
  now: () => number
  bounds?: Parameters<typeof waitingRoom>[0]
}): TopicWriter<Item> {
  const room = waitingRoom(bounds)
  const lanes = new Map<number, Lane<Item>>()
  let ready = false
  let closed = false
  whenReady.then(
    () => (ready = true),
    () => undefined,
  )

  return {
    async write(items) {
      if (closed) throw unavailable('the event log is closing')
      const begun = now()
      if (!ready) await untilReady(items)
      const withinMs = DEADLINE_MS - (now() - begun)
      const placed = byLeader(items)
      await Promise.all(
        [...placed].map(([leader, some]) => {
          return laneOf(leader).write(some, sum(some.map(({ item }) => sizeOf(item))), withinMs)
        }),
      )
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
  async function untilReady(items: readonly Item[]): Promise<void> {
    const bytes = sum(items.map(sizeOf))
    if (!room.enter(items.length, bytes)) throw unavailable('the event log is overloaded')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(unavailable(`the event log did not write within ${DEADLINE_MS} ms`))
      }, DEADLINE_MS)
    })
    try {
      await Promise.race([whenReady, late])
    } finally {
      clearTimeout(timer)
      room.leave(items.length, bytes)
    }
  }

  /** @throws {DependencyError} when an item's partition is unavailable. */
  function byLeader(items: readonly Item[]): Map<number, Placed<Item>[]> {
    const known = partitions()
    if (known.length === 0) throw unavailable(`the topic ${topic} is not there`)
    const placed = new Map<number, Placed<Item>[]>()
    for (const item of items) {
      const partition = partitionOf(keyOf(item), known)
      const { leader, inSync = 0 } = known[partition] ?? {}
      if (leader === undefined) throw unavailable(`partition ${partition} has no leader`)
      if (inSync < minInSync()) {
        throw unavailable(`partition ${partition} has too few replicas in sync`)
      }
      const together = placed.get(leader)
      if (together === undefined) placed.set(leader, [{ item, partition }])
      else together.push({ item, partition })
    }
    return placed
  }

  function laneOf(leader: number): Lane<Item> {
    const known = lanes.get(leader)
    if (known !== undefined) return known
    const lane = newLane(batchProducer({ newClient, topic, logger }))
    lanes.set(leader, lane)
    return lane
  }

  function newLane(producer: BatchProducer): Lane<Item> {
    let unconfirmedSince: number | undefined
    let triedAt = -Infinity
    const writer = gatheringWriter<Placed<Item>>({
      room,
      deadlineMs: DEADLINE_MS,
      async writeBatch(items) {
        triedAt = Infinity
        unconfirmedSince ??= now()
        try {
          const messages = await Promise.all(
            items.map(async ({ item, partition }) => ({ partition, ...(await toMessage(item)) })),
          )
          for (const part of parts(messages)) await producer.send(part)
          unconfirmedSince = undefined
        } finally {
          triedAt = now()
        }
      },
    })
    return {
      write: (items, bytes, withinMs) => writer.write(items, bytes, withinMs),
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

type Placed<Item> = { readonly item: Item; readonly partition: number }
type Lane<Item> = GatheringWriter<Placed<Item>> & {
  /** How long nothing has been confirmed; undefined when it has not tried lately. */
  unconfirmedMs(): number | undefined
}

function* parts(messages: readonly PlacedMessage[]): Generator<PlacedMessage[]> {
  let part: PlacedMessage[] = []
  let bytes = 0
  for (const message of messages) {
    const size = messageBytes(message)
    if (part.length === MAX_SEND_MESSAGES || (part.length > 0 && bytes + size > MAX_SEND_BYTES)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(message)
    bytes += size
  }
  if (part.length > 0) yield part
}

/** Approximate size of a message. */
export function messageBytes({ key, value }: Message): number {
  return Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '') + MESSAGE_OVERHEAD_BYTES
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
