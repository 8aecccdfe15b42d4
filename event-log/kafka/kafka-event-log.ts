import { setTimeout as pause } from 'node:timers/promises'
import type { DeadLetterLog } from '../dead-letters.ts'
import type { EventLog } from '../event-log.ts'
import { adminClient } from './admin.ts'
import { registerCodecs } from './codecs.ts'
import { kafkaClient, unavailable, type ConnectionOptions } from './connection.ts'
import { readDeadLetters, toReplay } from './dead-letters.ts'
import { toErasureMessage } from './event-format.ts'
import { eventIdsAt } from './event-ids.ts'
import { patchKafkajs } from './kafkajs/patch.ts'
import { bounds, committed, lag, trim } from './offsets.ts'
import { askPartitions } from './partitions.ts'
import { PARTITIONS_TOLD_WITHIN_MS, prepareTopics } from './prepared-topics.ts'
import { topicReaders } from './readers.ts'
import { toRejectionMessage } from './rejections.ts'
import { topicNames, type TopicOptions } from './topics.ts'
import { topicWriters } from './writers.ts'

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

/** Refused reports that cannot be written do not keep a process from ending within its deadline. */
const LAST_REJECTIONS_MS = 2000
/** A write pending for this long is past its caller's deadline. */
const STUCK_AFTER_MS = 4000

/**
 * The event log in Kafka. Opens at once, even when no broker can be reached, and keeps trying until
 * it is closed; meanwhile `ready` names what is missing.
 */
export function openKafkaEventLog(options: KafkaEventLogOptions): EventLog & DeadLetterLog {
  registerCodecs()
  patchKafkajs()
  const { topicPrefix, logger, clock, onFatal, registry } = options
  const { onReaderRenewed: onAnew = () => undefined, readersGivenUpAfterMs } = options
  const topics = topicNames(topicPrefix)
  const newClient = ({ retries }: { retries: number }) => kafkaClient(options, { retries })
  const groupIdOf = (group: string) => `${topicPrefix}.${group}`
  const admin = adminClient(newClient, logger)
  const boundsOf = (topic: string) => () =>
    admin.ask('tell what it holds', (client) => bounds(client, topic))
  const closing = new AbortController()
  const prepared = prepareTopics({ ...options, admin, registry, signal: closing.signal })
  const { positions, deadLetters, rejections } = topicWriters({
    ...{ topics, prepared, newClient, logger },
  })
  const readers = topicReaders({
    ...{ topics, prepared, admin, newClient, groupIdOf, boundsOf, onAnew, onFatal, logger },
    givenUpAfterMs: readersGivenUpAfterMs,
    closing: closing.signal,
  })
  let closed: Promise<void> | undefined

  return {
    append: (events, { spooled = false } = {}) =>
      positions.write(spooled ? events.map((event) => ({ spooled: event })) : events),
    erase: async (event) => positions.write([{ message: toErasureMessage(event) }]),
    appendRejections: async (events) => rejections.write(events.map(toRejectionMessage)),
    deadLetter: (entries) => deadLetters.write(entries),
    subscribe: readers.subscribe,
    subscribeRejections: readers.subscribeRejections,
    tail: readers.tail,

    async lag(group) {
      prepared.require()
      return admin.ask('tell the lag', (client) =>
        lag(client, { topic: topics.positions, groupId: groupIdOf(group) }, clock.now()),
      )
    },

    async committed(group) {
      prepared.require()
      return admin.ask('tell where a group stands', (client) =>
        committed(client, { topic: topics.positions, groupId: groupIdOf(group) }),
      )
    },

    async extent() {
      prepared.require()
      const held = await boundsOf(topics.positions)()
      return held.map(({ partition, low, high }) => ({
        partition,
        first: low,
        next: high,
        whole: low === 0,
      }))
    },

    async eventIdsAt(offsets) {
      prepared.require()
      return eventIdsAt(offsets, {
        bounds: boundsOf(topics.positions),
        tail: (from) => readers.tail(from),
      })
    },

    async trim(receivedBefore) {
      prepared.require()
      await admin.ask('trim the log', (client) => trim(client, topics.positions, receivedBefore))
    },

    async deadLetters() {
      prepared.require()
      const held = await boundsOf(topics.deadLetters)()
      return held.reduce((sum, { low, high }) => sum + high - low, 0)
    },

    async *readDeadLetters() {
      prepared.require()
      const read = {
        bounds: boundsOf(topics.deadLetters),
        tail: (until: AbortSignal) => readers.tailDeadLetters(until),
      }
      yield* readDeadLetters(read)
    },

    async settleDeadLetters({ upTo: { partition, offset } }, { replay, keep }) {
      await positions.write(replay.map((letter) => ({ message: toReplay(letter) })))
      await deadLetters.write(keep.map(({ kept }) => kept))
      const last = { partition, offset: String(offset + 1) }
      await admin.ask('forget dead letters', (client) =>
        client.deleteTopicRecords({ topic: topics.deadLetters, partitions: [last] }),
      )
    },

    async ready() {
      prepared.require()
      readers.requireVariables()
      if (positions.stuckMs() > STUCK_AFTER_MS) throw unavailable('Kafka confirms no writes')
      const found = await admin.ask(
        'answer',
        (client) => askPartitions(client, [topics.positions]),
        PARTITIONS_TOLD_WITHIN_MS,
      )
      const enough = prepared.minInSync(topics.positions)
      // A partition without a leader affects only its own devices: this process stays ready.
      const writable = found
        .get(topics.positions)
        ?.some(({ leader, inSync }) => leader !== undefined && inSync >= enough)
      if (writable !== true) throw unavailable('no partition has enough replicas in sync')
    },

    close() {
      closed ??= (async () => {
        closing.abort()
        const late = pause(LAST_REJECTIONS_MS, undefined, { ref: false })
        await Promise.all([
          ...[positions.close(), Promise.race([rejections.close(), late])],
          ...[readers.ended(), prepared.ended],
        ])
        await deadLetters.close()
        await admin.close()
      })()
      return closed
    },
  }
}
