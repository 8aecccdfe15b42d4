import { setTimeout as pause } from 'node:timers/promises'
import type { KafkaMessage } from 'kafkajs'
import type { AppendedEvent } from '../../schemas/events/appended-event.ts'
import type { EventLog, UnreadableEntry } from '../event-log.ts'
import type { FactTopic } from '../fact-log.ts'
import { deadLettersOf, REJECTIONS, type TopicKind } from '../topic.ts'
import { adminClient } from './admin.ts'
import { kafkaClient, unavailableError, type KafkaConnectionOptions } from './kafka-client.ts'
import { Outage } from '../../runtime/process/outage.ts'
import { kafkaFactTopic } from './fact-topic.ts'
import { sizeOfEvent, toEntry, toErasureMessage, toMessage, toReplay } from './event-format.ts'
import { readEventIdsAt } from './tail.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import { patchKafkajs } from './kafkajs/patch.ts'
import { lag, fetchOffsetsBefore, trim } from './offsets.ts'
import { askPartitions } from './partitions.ts'
import { PARTITIONS_KNOWN_WITHIN_MS, prepareTopics } from './prepared-topics.ts'
import { readersOfTopics } from './topic-readers.ts'
import { messageBytes, topicWriter } from './topic-writer.ts'
import { kafkaTopic } from './topic.ts'
import { topicNames, type TopicOptions } from './topics.ts'

export type KafkaEventLogOptions = KafkaConnectionOptions &
  TopicOptions & {
    /** With a registry, events are written as Avro, otherwise as JSON; both can always be read. */
    readonly registry?: { readonly url: string }
    readonly clock: { now(): number }
    /** A write that is not confirmed within this time is rejected; default: 5 s. */
    readonly writtenWithinMs?: number
    /** Called whenever a failed reader is replaced by a new one. */
    readonly onReaderRenewed?: () => void
    /** How long readers may fail before `onFatal` is called; default: 5 minutes. */
    readonly readersGivenUpAfterMs?: number
    /** Reading cannot continue in this process, which should exit with a non-zero code. */
    readonly onFatal: (error: Error) => void
  }

/** Limits how long unwritable rejections can delay the end of the process. */
const LAST_REJECTIONS_MS = 2000
/** A write pending for this long is past its caller's deadline. */
const STUCK_AFTER_MS = 4000

const READERS_GIVEN_UP_AFTER_MS = 5 * 60_000

/** An event and whether it has waited in a spool, or a finished message. */
type Written = { readonly event: AppendedEvent; readonly spooled: boolean } | LogMessage

/** Includes the topic of facts; other deployments have the facts in the store. */
export type KafkaEventLog = EventLog & { readonly facts: FactTopic }

/**
 * The event log in Kafka. Opens immediately, even when no broker can be reached, and keeps trying
 * until it is closed; meanwhile `ready` names the missing part.
 */
export function openKafkaEventLog(options: KafkaEventLogOptions): KafkaEventLog {
  patchKafkajs()
  const { topicPrefix, clock, onFatal, registry } = options
  const outage = new Outage({
    dependency: 'Kafka',
    variable: 'KAFKA_BROKERS',
    logger: options.logger,
  })
  const logger = outage.quietLogger(options.logger)
  const { onReaderRenewed: onAnew = () => undefined } = options
  const { readersGivenUpAfterMs: givenUpAfterMs = READERS_GIVEN_UP_AFTER_MS } = options
  const names = topicNames(topicPrefix)
  const topic = names.positions
  const newClient = ({ retries }: { retries: number }) =>
    kafkaClient({ ...options, logger }, { retries })
  const groupIdOf = (group: string) => `${topicPrefix}.${group}`
  const admin = adminClient(newClient, logger, outage)
  const closing = new AbortController()
  const prepared = prepareTopics({
    ...options,
    logger,
    admin,
    registry,
    signal: closing.signal,
    outage,
  })
  const common = { prepared, admin, newClient, groupIdOf, onAnew, logger }
  const readersOf = readersOfTopics({ ...common, closing: closing.signal })
  const readers = readersOf.of(topic)
  const writer = topicWriter<Written>({
    ...writerOptions(topic),
    sizeOf: (item) => ('event' in item ? sizeOfEvent(item.event) : messageBytes(item)),
    toMessage: (item) =>
      'event' in item
        ? toMessage(item.event, { avro: prepared.avro(), spooled: item.spooled })
        : item,
  })
  const rejections = topicOf(REJECTIONS, names.rejections)
  const deadLetters = topicOf(deadLettersOf(topic), names.deadLetters)
  const facts = kafkaFactTopic({
    readers: readersOf.of(names.facts),
    writing: writerOptions(names.facts),
    admin,
  })
  let missing: UnreadableEntry['missing']
  let closed: Promise<void> | undefined

  return markOutages(outage, {
    rejections,
    deadLetters,
    facts,
    append: (events, { spooled = false } = {}) =>
      writer.write(events.map((event) => ({ event, spooled }))),
    erase: async (event) => writer.write([toErasureMessage(event)]),

    async subscribe({ group, resumeAfter, onBatch, signal }) {
      try {
        await readers.subscribe({
          group,
          resumeAfter,
          onBatch,
          signal,
          givenUpAfterMs,
          async toBatch({ partition, messages, lastOffset }, after) {
            const entries = await Promise.all(messages.map((one) => entryOf(one, partition)))
            return { partition, ...(after !== undefined && { after }), lastOffset, entries }
          },
        })
      } catch (error) {
        const fatal = error instanceof Error ? error : new Error(String(error))
        onFatal(fatal)
        throw fatal
      }
    },

    tail: (from) => readers.tail({ ...from, toEntry: entryOf }),

    async lag(group, applied) {
      prepared.require()
      const groupId = groupIdOf(group)
      return admin.ask('read the lag', (client) =>
        lag(client, { topic, groupId, applied, now: clock.now() }),
      )
    },

    async extent() {
      return (await readers.bounds()).map(({ partition, low, high }) => ({
        partition,
        first: low,
        next: high,
        whole: low === 0,
      }))
    },

    async placeBefore(time) {
      prepared.require()
      return admin.ask('find a time', (client) => fetchOffsetsBefore(client, topic, time))
    },

    async eventIdsAt(offsets) {
      prepared.require()
      return readEventIdsAt(offsets, {
        bounds: () => readers.bounds(),
        tail: (from) => readers.tail({ ...from, toEntry: entryOf }),
      })
    },

    async trim(receivedBefore) {
      prepared.require()
      // A dead letter is written later than its event was received.
      for (const name of [topic, names.facts, names.deadLetters]) {
        await admin.ask(`trim ${name}`, (client) => trim(client, name, receivedBefore))
      }
    },

    readAgain({ key, value, headers = {}, origin: { partition, offset } }) {
      const bytes = { key: key && Buffer.from(key), value: value && Buffer.from(value) }
      const own = headers as NonNullable<KafkaMessage['headers']>
      return entryOf({ ...bytes, headers: own, offset: String(offset) }, partition)
    },

    replay: (letters) => writer.write(letters.map(({ kept }) => toReplay(kept))),

    async ready() {
      prepared.require()
      if (missing !== undefined) {
        throw unavailableError(
          `the log has entries that cannot be read while ${missing} is not set`,
        )
      }
      if (writer.stuckMs() > STUCK_AFTER_MS) throw unavailableError('Kafka confirms no writes')
      const found = await admin.ask(
        'answer',
        (client) => askPartitions(client, [topic]),
        PARTITIONS_KNOWN_WITHIN_MS,
      )
      const enough = prepared.minInSync(topic)
      // A partition without a leader affects only its own devices: this process stays ready.
      const writable = found
        .get(topic)
        ?.some(({ leader, inSync }) => leader !== undefined && inSync >= enough)
      if (writable !== true) throw unavailableError('no partition has enough replicas in sync')
    },

    close() {
      closed ??= (async () => {
        closing.abort()
        const late = pause(LAST_REJECTIONS_MS, undefined, { ref: false })
        await Promise.all([
          ...[writer.close(), facts.close(), Promise.race([rejections.close(), late])],
          ...[readersOf.ended(), prepared.ended],
        ])
        await deadLetters.close()
        await admin.close()
      })()
      return closed
    },
  })

  function topicOf<Entry>(kind: TopicKind<Entry>, name: string) {
    return kafkaTopic(kind, {
      readers: readersOf.of(name),
      writing: writerOptions(name),
      admin,
      logger,
    })
  }

  function writerOptions(name: string) {
    return {
      topic: name,
      newClient,
      logger,
      whenReady: prepared.whenReady,
      now: () => performance.now(),
      mark: (error: unknown) => outage.mark(error),
      deadlineMs: options.writtenWithinMs,
      partitions: () => prepared.partitions(name),
      minInSync: () => prepared.minInSync(name),
    }
  }

  async function entryOf(message: Parameters<typeof toEntry>[0], partition: number) {
    const entry = await toEntry(message, partition, prepared.avro())
    if (entry.kind === 'unreadable') missing ??= entry.missing
    return entry
  }
}

/**
 * Marks failures of calls, except of `append`: it is called most often and marks its own failures.
 */
function markOutages(outage: Outage, eventLog: KafkaEventLog): KafkaEventLog {
  const markFailures =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await call(...args)
      } catch (error) {
        throw outage.mark(error)
      }
    }
  return {
    ...eventLog,
    lag: markFailures((group: string, applied: Parameters<EventLog['lag']>[1]) =>
      eventLog.lag(group, applied),
    ),
    extent: markFailures(() => eventLog.extent()),
    placeBefore: markFailures((time: number) => eventLog.placeBefore(time)),
    eventIdsAt: markFailures((offsets: Parameters<EventLog['eventIdsAt']>[0]) =>
      eventLog.eventIdsAt(offsets),
    ),
    trim: markFailures((receivedBefore: number) => eventLog.trim(receivedBefore)),
    ready: markFailures(() => eventLog.ready()),
  }
}
