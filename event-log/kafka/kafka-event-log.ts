import { randomUUID } from 'node:crypto'
import type { KafkaMessage, Message } from 'kafkajs'
import { backOff } from '../../runtime/back-off.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { periodically } from '../../runtime/periodically.ts'
import { deviceKey, type PositionReported } from '../../schemas/position-reported.ts'
import type { EventLog, TailItem, UnreadableEntry } from '../event-log.ts'
import { adminClient } from './admin.ts'
import { openAvroFormat } from './avro-format.ts'
import { registerCodecs } from './codecs.ts'
import { kafkaClient, type ConnectionOptions } from './connection.ts'
import { subscribe } from './consumer.ts'
import {
  sizeOfEntry,
  sizeOfEvent,
  toEntry,
  toErasureMessage,
  toMessage,
  type AvroFormat,
} from './event-format.ts'
import type { DeadLetterLog } from '../dead-letters.ts'
import { fromDeadLetter, readDeadLetters, toDeadLetter, toReplay } from './dead-letters.ts'
import { eventIdsAt } from './event-ids.ts'
import { bounds, committed, lag, progressOf, trim } from './offsets.ts'
import { tolerateMissingLeaders } from './missing-leaders.ts'
import { askPartitions, type Partitions } from './partitions.ts'
import { REJECTION_BOUNDS, subscribeRejections, toRejectionMessage } from './rejections.ts'
import { tail } from './tail.ts'
import { messageBytes, topicWriter } from './topic-writer.ts'
import { ensureTopics, topicNames, type TopicOptions } from './topics.ts'

export type KafkaEventLogOptions = ConnectionOptions &
  TopicOptions & {
    /** With a registry, events are written as Avro, otherwise as JSON; both can always be read. */
    readonly registry?: { readonly url: string }
    readonly clock: { now(): number }
    /** Called whenever a failed reader is replaced by a new one. */
    readonly onReaderRenewed?: () => void
    /** How long readers may fail before `onFatal` is called; default: 5 minutes. */
    readonly readersGivenUpAfterMs?: number
    /** Reading cannot continue in this process, which should exit with a non-zero code. */
    readonly onFatal: (error: Error) => void
  }

/** How long `ready` waits for Kafka. */
const READY_WITHIN_MS = 3000
const READERS_GIVEN_UP_AFTER_MS = 5 * 60_000
const LOOK_AT_PARTITIONS_EVERY_MS = 1000
/** A write pending for this long is past its caller's deadline. */
const STUCK_AFTER_MS = 4000

/**
 * The event log in Kafka. Opens at once, even when no broker can be reached, and keeps trying until
 * it is closed; meanwhile `ready` says what is missing.
 */
export function openKafkaEventLog(options: KafkaEventLogOptions): EventLog & DeadLetterLog {
  registerCodecs()
  tolerateMissingLeaders()
  const { topicPrefix, logger, clock, onFatal, registry, clientId } = options
  const { onReaderRenewed: onAnew = () => undefined } = options
  const topics = topicNames(topicPrefix)
  const newClient = ({ retries }: { retries: number }) => kafkaClient(options, { retries })
  const admin = adminClient(newClient, logger)
  const closing = new AbortController()
  const readers = new Set<Promise<unknown>>()
  let missing: string | undefined = 'Kafka has not been reached yet'
  let minInSync: ReadonlyMap<string, number> = new Map()
  let partitions: Partitions = new Map()
  let avro: AvroFormat | undefined
  let closed: Promise<void> | undefined

  const prepared = prepare()
  // Those who await it get the failure, which only closing causes.
  prepared.catch(() => undefined)
  readers.add(watchPartitions())
  const writingTo = (topic: string) => ({
    ...{ topic, newClient, logger, whenReady: prepared, now: () => performance.now() },
    partitions: () => partitions.get(topic) ?? [],
    minInSync: () => minInSync.get(topic) ?? 1,
  })
  const positions = topicWriter<PositionReported | { readonly message: Message }>({
    ...writingTo(topics.positions),
    keyOf: (item) => ('message' in item ? (item.message.key ?? null) : deviceKey(item)),
    sizeOf: (item) => ('message' in item ? messageBytes(item.message) : sizeOfEvent(item)),
    toMessage: (item) => ('message' in item ? item.message : toMessage(item, avro)),
  })
  const deadLetters = topicWriter<UnreadableEntry>({
    ...writingTo(topics.deadLetters),
    keyOf: ({ key }) => (key === null ? null : Buffer.from(key)),
    sizeOf: sizeOfEntry,
    toMessage: (entry) => toDeadLetter(entry, topics.positions),
  })
  const rejections = topicWriter<Message>({
    ...writingTo(topics.rejections),
    bounds: REJECTION_BOUNDS,
    keyOf: ({ key }) => key ?? null,
    sizeOf: messageBytes,
    toMessage: (message) => message,
  })

  return {
    append: (events) => positions.write(events),
    erase: async (event) => positions.write([{ message: toErasureMessage(event) }]),
    appendRejections: async (events) => rejections.write(events.map(toRejectionMessage)),
    deadLetter: (entries) => deadLetters.write(entries),

    async subscribe(subscription) {
      const groupId = groupIdOf(subscription.group)
      await reader(subscription.signal, async (signal) => {
        await subscribe({
          ...reading(groupId),
          ...{ onAnew, givenUpAfterMs: options.readersGivenUpAfterMs ?? READERS_GIVEN_UP_AFTER_MS },
          subscription: { ...subscription, signal },
          progress: (partitions) =>
            admin.ask('tell where a group stands', (client) =>
              progressOf(client, { topic: topics.positions, groupId }, partitions),
            ),
        })
      }).catch((error: unknown) => {
        const fatal = error instanceof Error ? error : new Error(String(error))
        onFatal(fatal)
        throw fatal
      })
    },

    async subscribeRejections({ group, onBatch, signal }) {
      await reader(signal, (ended) =>
        subscribeRejections({
          newClient: () => newClient({ retries: 5 }),
          groupId: groupIdOf(group),
          topic: topics.rejections,
          onBatch,
          signal: ended,
          onAnew,
          logger,
        }),
      )
    },

    tail: tailFrom,

    async lag(group) {
      await requirePrepared()
      return admin.ask('tell the lag', (client) =>
        lag(client, { topic: topics.positions, groupId: groupIdOf(group) }, clock.now()),
      )
    },

    async committed(group) {
      await requirePrepared()
      return admin.ask('tell where a group stands', (client) =>
        committed(client, { topic: topics.positions, groupId: groupIdOf(group) }),
      )
    },

    async extent() {
      await requirePrepared()
      const held = await positionBounds()
      return held.map(({ partition, low, high }) => ({
        partition,
        first: low,
        next: high,
        whole: low === 0,
      }))
    },

    async eventIdsAt(offsets) {
      await requirePrepared()
      return eventIdsAt(offsets, { bounds: positionBounds, tail: tailFrom })
    },

    async deadLetters() {
      await requirePrepared()
      const held = await admin.ask('count the dead letters', (client) =>
        bounds(client, topics.deadLetters),
      )
      return held.reduce((sum, { low, high }) => sum + high - low, 0)
    },

    async *readDeadLetters() {
      await requirePrepared()
      const held = () =>
        admin.ask('tell the dead letters', (client) => bounds(client, topics.deadLetters))
      yield* readDeadLetters({
        bounds: held,
        tail: (signal) =>
          tail({
            ...reading(groupIdOf(`dead-letters-${randomUUID()}`)),
            topic: topics.deadLetters,
            toEntry: (message: KafkaMessage) =>
              fromDeadLetter(message, (own, partition) => toEntry(own, partition, avro)),
            after: {},
            signal: AbortSignal.any([signal, closing.signal]),
            bounds: held,
          }),
      })
    },

    async settleDeadLetters({ upTo: { partition, offset } }, { replay, keep }) {
      await positions.write(replay.map((letter) => ({ message: toReplay(letter) })))
      await deadLetters.write(keep.map(({ kept }) => kept))
      const last = { partition, offset: String(offset + 1) }
      await admin.ask('forget dead letters', (client) =>
        client.deleteTopicRecords({ topic: topics.deadLetters, partitions: [last] }),
      )
    },

    async trim(receivedBefore) {
      await requirePrepared()
      await admin.ask('trim the log', (client) => trim(client, topics.positions, receivedBefore))
    },

    async ready() {
      await requirePrepared()
      if (positions.stuckMs() > STUCK_AFTER_MS) throw unavailable('Kafka confirms no writes')
      const found = await admin.ask(
        'answer',
        (client) => askPartitions(client, [topics.positions]),
        READY_WITHIN_MS,
      )
      const enough = minInSync.get(topics.positions) ?? 1
      // A partition without a leader affects only its own devices: this process stays ready.
      const writable = found
        .get(topics.positions)
        ?.some(({ leader, inSync }) => leader !== undefined && inSync >= enough)
      if (writable !== true) throw unavailable('no partition has enough replicas in sync')
    },

    close() {
      closed ??= (async () => {
        closing.abort()
        await Promise.all([positions.close(), rejections.close(), Promise.allSettled(readers)])
        await deadLetters.close()
        await admin.close()
      })()
      return closed
    },
  }

  async function* tailFrom({
    after,
    signal,
  }: Parameters<EventLog['tail']>[0]): AsyncGenerator<TailItem, void> {
    const ended = AbortSignal.any([signal, closing.signal])
    if (!(await whenPrepared(ended))) return
    yield* tail({
      ...reading(groupIdOf(`tail-${randomUUID()}`)),
      after,
      signal: ended,
      bounds: positionBounds,
    })
  }

  function positionBounds() {
    return admin.ask('tell what it holds', (client) => bounds(client, topics.positions))
  }

  async function prepare(): Promise<void> {
    const pauses = backOff({ firstMs: 200, longestMs: 2000 })
    while (!closing.signal.aborted) {
      try {
        minInSync = await admin.ask('prepare its topics', (client) =>
          ensureTopics(client, options, logger),
        )
        await lookAtPartitions()
        if (registry !== undefined) {
          const subject = `${topics.positions}-value`
          avro = await openAvroFormat({ url: registry.url, clientId, subject })
        }
        missing = undefined
        return
      } catch (error) {
        missing = error instanceof Error ? error.message : String(error)
        logger.warn({ err: error }, 'event log is not ready yet')
      }
      await pauses.pause(closing.signal)
    }
    throw unavailable('the event log is closed')
  }

  async function lookAtPartitions(): Promise<void> {
    partitions = await admin.ask(
      'tell its partitions',
      (client) => askPartitions(client, Object.values(topics)),
      READY_WITHIN_MS,
    )
  }

  /** Leaders move and partitions are added; until the next answer the last known state is used. */
  async function watchPartitions(): Promise<void> {
    if (!(await whenPrepared(closing.signal))) return
    await periodically({
      what: 'looking at the partitions',
      everyMs: LOOK_AT_PARTITIONS_EVERY_MS,
      task: lookAtPartitions,
      signal: closing.signal,
      logger,
    })
  }

  async function requirePrepared(): Promise<void> {
    if (closing.signal.aborted) throw unavailable('the event log is closed')
    if (missing !== undefined) throw unavailable(missing)
    await prepared
  }

  /** False when `signal` was aborted first. */
  async function whenPrepared(signal: AbortSignal): Promise<boolean> {
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    if (!signal.aborted) await Promise.race([prepared.catch(() => undefined), ended])
    return !signal.aborted
  }

  /** Reads until `signal` is aborted or the log is closed; closing waits for it. */
  async function reader(signal: AbortSignal, read: (ended: AbortSignal) => Promise<void>) {
    const ended = AbortSignal.any([signal, closing.signal])
    if (!(await whenPrepared(ended))) return
    const done = read(ended).finally(() => readers.delete(done))
    readers.add(done)
    await done
  }

  function reading(groupId: string) {
    return {
      newClient: () => newClient({ retries: 5 }),
      groupId,
      topic: topics.positions,
      toEntry: (message: KafkaMessage, partition: number) => toEntry(message, partition, avro),
      logger,
    }
  }

  function groupIdOf(group: string): string {
    return `${topicPrefix}.${group}`
  }
}

function unavailable(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
