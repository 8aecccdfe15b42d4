import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { TailGap, TailItem } from '../event-log.ts'
import { backOff } from '../../runtime/process/repeat.ts'
import type { KafkaClient, Logger } from './kafka-client.ts'
import { joinGroup, runWithHeartbeats, type Chunk } from './group-member.ts'
import type { OffsetBounds } from './offsets.ts'
import { stallWatch } from './stall-watch.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'

/** A stalled tail delivers nothing new; a new one starts within about a second. */
const STALLED = { stalledAfterMs: 30_000, lookEveryMs: 5_000 }

/** A `TailItem` of the port, for any type of entry. */
export type TailItemOf<Entry> =
  | {
      readonly kind: 'batch'
      readonly partition: number
      readonly lastOffset: number
      readonly entries: readonly Entry[]
    }
  | TailGap

export type TailOptions<Entry> = {
  readonly after: Offsets | 'end'
  readonly signal: AbortSignal
  readonly newClient: () => KafkaClient
  readonly groupId: string
  readonly topic: string
  readonly toEntry: (message: Chunk['messages'][number], partition: number) => Promise<Entry>
  readonly bounds: () => Promise<OffsetBounds[]>
  readonly logger: Logger
  /**
   * How long a tail may receive nothing before it counts as stalled, and how often that is checked.
   */
  readonly stalled?: typeof STALLED
}

/**
 * Every entry after `after`, then new ones as they arrive. kafkajs has no reader without a group,
 * so this is the only member of a private group that commits nothing. Throws when kafkajs has given
 * up or stalled.
 */
export async function* tail<Entry>({
  after,
  signal,
  newClient,
  groupId,
  topic,
  toEntry,
  bounds,
  logger,
  stalled = STALLED,
}: TailOptions<Entry>): AsyncGenerator<TailItemOf<Entry>, void> {
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) return

  const next = new Map<number, number>()
  for (const { partition, low, high } of await askUntilAnswered(bounds, { signal, logger })) {
    const nextOffset = after === 'end' ? high : (after[partition] ?? -1) + 1
    // A mark beyond the end belongs to another log; reading from there would start all over.
    const known = nextOffset >= low && nextOffset <= high
    const begin = known ? nextOffset : nextOffset < low ? low : high
    next.set(partition, begin)
    if (!known) yield { kind: 'gap', partition, after: begin - 1 }
  }

  if (signal.aborted) return

  const items = handover<TailItemOf<Entry>>(ending.signal)
  const watch = stallWatch({ groupId, progress, logger, ...stalled })
  let dealt: Promise<unknown> = Promise.resolve()
  let failure: Error | undefined
  const member = joinGroup({
    client: newClient(),
    groupId,
    topic,
    commit: false,
    async startAt(partitions) {
      watch.assigned(partitions)
      return new Map([...next].filter(([partition]) => partitions.includes(partition)))
    },
    // Handles one chunk at a time: kafkajs does not wait until control records have been skipped.
    deal(chunk) {
      const done = dealt.then(() => watch.during(() => handleChunk(chunk)))
      dealt = done.catch(() => undefined)
      return runWithHeartbeats(chunk.heartbeat, () => done)
    },
    signal: ending.signal,
    logger,
  })
  const reading = Promise.race([member, watch.stalled])
    .catch((error: Error) => (failure = error))
    .finally(() => {
      watch.stop()
      end()
    })
  try {
    for await (const item of items.taken()) yield item
    if (failure !== undefined) throw failure
  } finally {
    end()
    await reading
    signal.removeEventListener('abort', end)
  }

  async function progress() {
    const held = await bounds()
    return {
      position: [...next].join(' '),
      behind: held.some(({ partition, high }) => (next.get(partition) ?? 0) < high),
    }
  }

  async function handleChunk(chunk: Chunk): Promise<boolean> {
    const { partition, messages, firstOffset, lastOffset } = chunk
    const due = next.get(partition) ?? 0
    if (firstOffset > due) {
      const low = (await bounds()).find((one) => one.partition === partition)?.low ?? 0
      // Retention has overtaken the reader.
      if (low > due) await items.give({ kind: 'gap', partition, after: low - 1 })
    }
    // kafkajs restarts at the first offset of a topic that was recreated and is shorter.
    if (firstOffset < due) await items.give({ kind: 'gap', partition, after: firstOffset - 1 })
    const entries = await Promise.all(messages.map((message) => toEntry(message, partition)))
    if (!(await items.give({ kind: 'batch', partition, lastOffset, entries }))) return false
    next.set(partition, lastOffset + 1)
    return true
  }
}

async function askUntilAnswered(
  bounds: () => Promise<OffsetBounds[]>,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): Promise<OffsetBounds[]> {
  const pauses = backOff({ firstMs: 500, longestMs: 2000 })
  while (!signal.aborted) {
    try {
      return await bounds()
    } catch (error) {
      logger.warn({ err: error }, 'live reader could not read the log; retrying')
    }
    await pauses.pause(signal)
  }
  return []
}

/** Hands over one item at a time; the producer waits until the consumer asks for the next. */
function handover<Item>(ended: AbortSignal) {
  let handedOver: { item: Item; done: (taken: boolean) => void } | undefined
  let wakeTaker: () => void = () => undefined
  ended.addEventListener('abort', () => {
    wakeTaker()
    handedOver?.done(false)
  })
  return {
    /** Resolves to true once the item is taken, or false if `ended` is aborted first. */
    give(item: Item): Promise<boolean> {
      if (ended.aborted) return Promise.resolve(false)
      return new Promise((done) => {
        handedOver = { item, done }
        wakeTaker()
      })
    },

    async *taken(): AsyncGenerator<Item, void> {
      while (!ended.aborted) {
        if (handedOver === undefined) {
          await new Promise<void>((resolve) => (wakeTaker = resolve))
          continue
        }
        const { item, done } = handedOver
        yield item
        handedOver = undefined
        done(true)
      }
    },
  }
}

const WITHIN_MS = 15_000

/**
 * The ids of the events at these offsets. kafkajs cannot fetch without a group, so a separate
 * reader starts at each of these offsets, and at the end of every other partition.
 */
export async function readEventIdsAt(
  offsets: Offsets,
  {
    bounds,
    tail,
  }: {
    bounds: () => Promise<readonly OffsetBounds[]>
    tail: (options: { after: Offsets; signal: AbortSignal }) => AsyncIterable<TailItem>
  },
): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>()
  const held = await bounds()
  const wanted = new Map(
    held.flatMap(({ partition, low, high }) => {
      const offset = offsets[partition] ?? -1
      return offset >= low && offset < high ? [[partition, offset]] : []
    }),
  )
  if (wanted.size === 0) return ids
  const after = Object.fromEntries(
    held.map(({ partition, high }) => [partition, (wanted.get(partition) ?? high) - 1]),
  )
  const signal = AbortSignal.timeout(WITHIN_MS)
  for await (const item of tail({ after, signal })) {
    const offset = wanted.get(item.partition)
    wanted.delete(item.partition)
    if (item.kind === 'batch') {
      const entry = item.entries.find(({ origin }) => origin.offset === offset)
      if (entry !== undefined && 'event' in entry) ids.set(item.partition, eventIdOf(entry.event))
    }
    if (wanted.size === 0) return ids
  }
  throw new DependencyError('Kafka did not return the entries that were applied last', {
    retriable: true,
  })
}
