import { Partitioners, type Producer, type RecordMetadata } from 'kafkajs'
import { backOff } from '../../runtime/process/repeat.ts'
import {
  kafkaFailure,
  RETRY,
  unavailableError,
  type KafkaClient,
  type Logger,
} from './kafka-client.ts'
import type { EncodedRecord } from './kafkajs/encoded-record.ts'

export type BatchProducer = {
  /**
   * Resolves once every record is in its partition. Never called while an earlier call is pending:
   * with two batches outstanding, kafkajs can reuse the sequence number of one whose response was
   * lost, and the broker then acknowledges the next batch as a repeat without writing it.
   * @throws {DependencyError} retriable; the records may or may not have been written.
   */
  send(records: readonly EncodedRecord[]): Promise<void>
  close(): Promise<void>
}

/** Longer than any caller waits for its retriable error. */
const GIVEN_UP_AFTER_MS = 5000
/** How soon a partition is written to again after its leader has changed. */
const LONGEST_PAUSE_MS = 500

/** An idempotent producer for one topic; replaced when it fails or hangs. */
export function batchProducer({
  newClient,
  topic,
  logger,
  givenUpAfterMs = GIVEN_UP_AFTER_MS,
}: {
  newClient: (options: { retries: number }) => KafkaClient
  topic: string
  logger: Logger
  givenUpAfterMs?: number
}): BatchProducer {
  let connected: Connected | undefined
  let connecting: Promise<Connected> | undefined
  let beginning: KafkaClient | undefined
  const closing = new AbortController()
  const dropping = new Set<Promise<void>>()

  return {
    async send(records) {
      let timer: NodeJS.Timeout | undefined
      const givenUp = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new Error(`not confirmed within ${givenUpAfterMs} ms`))
        }, givenUpAfterMs)
      })
      try {
        // The next batch waits for a slow connection too, instead of opening another.
        if (connected === undefined)
          connecting ??= connect().finally(() => (connecting = undefined))
        const { producer } = connected ?? (await Promise.race([connecting!, givenUp]))
        const placed = groupByPartition(records)
        const messages = groupRecords(records, placed)
        const sent = producer.sendBatch({ acks: -1, topicMessages: [{ topic, messages }] })
        requireAll(Object.keys(placed), await Promise.race([sent, givenUp]))
      } catch (error) {
        // The broker may have part of this batch, so the next batch must not reuse its sequence
        // numbers.
        drop()
        logger.warn(
          { err: error, topic, messages: records.length },
          'Kafka did not confirm a batch',
        )
        throw kafkaFailure('confirm a write', error)
      } finally {
        clearTimeout(timer)
      }
    },

    async close() {
      closing.abort()
      drop()
      beginning?.cut()
      await Promise.all(dropping)
    },
  }

  /** The first `connect` of kafkajs gives up; the process must survive an unavailable broker. */
  async function connect(): Promise<Connected> {
    const pauses = backOff({ firstMs: 200, longestMs: 2000 })
    while (!closing.signal.aborted) {
      // Set explicitly: the unlimited default of an idempotent producer does not take effect.
      const client = newClient({ retries: Number.MAX_SAFE_INTEGER })
      const producer = client.kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        retry: { ...RETRY, maxRetryTime: LONGEST_PAUSE_MS, retries: Number.MAX_SAFE_INTEGER },
        createPartitioner: Partitioners.DefaultPartitioner,
      })
      beginning = client
      try {
        await producer.connect()
        return (connected = { client, producer })
      } catch (error) {
        logger.warn({ err: error, topic }, 'Kafka producer cannot connect')
        client.cut()
      } finally {
        beginning = undefined
      }
      await pauses.pause(closing.signal)
    }
    throw unavailableError('the event log is closed')
  }

  function drop(): void {
    const dropped = connected
    connected = undefined
    if (dropped === undefined) return
    // Pending messages must not be sent: their callers have already received errors.
    dropped.client.cut()
    const gone = dropped.producer
      .disconnect()
      .catch((error: unknown) => {
        logger.debug({ err: error, topic }, 'could not disconnect the Kafka producer')
      })
      .finally(() => dropping.delete(gone))
    dropping.add(gone)
  }
}

type Connected = { readonly client: KafkaClient; readonly producer: Producer }

type ByPartition = Record<number, EncodedRecord[]>

function groupByPartition(records: readonly EncodedRecord[]): ByPartition {
  const placed: ByPartition = {}
  for (const record of records) (placed[record.partition] ??= []).push(record)
  return placed
}

/**
 * kafkajs reduces the array to the messages of each partition. With a plain array it copies all
 * previous messages for each one, in quadratic time.
 */
function groupRecords(records: readonly EncodedRecord[], placed: ByPartition): EncodedRecord[] {
  return Object.defineProperty([...records], 'reduce', { value: () => placed })
}

/**
 * When a partition has no leader, or moves to a broker that has already responded in this send,
 * kafkajs leaves its messages out and still reports success.
 */
function requireAll(partitions: readonly string[], answers: readonly RecordMetadata[]): void {
  const answered = new Set(answers.map(({ partition }) => String(partition)))
  const silent = partitions.filter((partition) => !answered.has(partition))
  if (silent.length > 0) throw new Error(`no response for partition ${silent.join(', ')}`)
}
