import { setTimeout as pause } from 'node:timers/promises'
import { Partitioners, type Message, type Producer, type RecordMetadata } from 'kafkajs'
import { DependencyError } from '../../runtime/errors.ts'
import { gatheringWriter, type GatheringWriter } from '../gathering-writer.ts'
import { kafkaFailure, RETRY, type KafkaClient, type Logger } from './connection.ts'
import { MESSAGE_OVERHEAD_BYTES } from './event-format.ts'

/** The caller learns within this time that it should try again. */
const DEADLINE_MS = 5000
/** kafkajs groups a batch quadratically and blocks the event loop with a large one. */
const MAX_SEND_MESSAGES = 1000
const MAX_SEND_BYTES = 900_000

export type TopicWriter<Item> = GatheringWriter<Item> & {
  /** How long the batch outstanding has been waiting for its answer; 0 when there is none. */
  outstandingMs(): number
}

/**
 * Writes to one topic through an idempotent producer with exactly one `sendBatch` outstanding. With
 * two, kafkajs can take the sequence number of a batch whose answer was lost for the next one,
 * which the broker then acknowledges as a repeat without writing it.
 */
export function topicWriter<Item>({
  newClient,
  topic,
  whenReady,
  toMessage,
  logger,
  now,
  ...bounds
}: {
  newClient: (options: { retries: number }) => KafkaClient
  topic: string
  /** Resolves when the topic is known to be there. */
  whenReady: Promise<void>
  toMessage: (item: Item) => Message | Promise<Message>
  logger: Logger
  /** Milliseconds that only grow. */
  now: () => number
  readonly maxQueuedItems?: number
  readonly maxQueuedBytes?: number
}): TopicWriter<Item> {
  let connected: ConnectedProducer | undefined
  let connecting: KafkaClient | undefined
  let closed = false
  let outstandingSince: number | undefined

  const writer = gatheringWriter<Item>({
    ...bounds,
    deadlineMs: DEADLINE_MS,
    async writeBatch(items) {
      outstandingSince = now()
      try {
        await whenReady
        const messages = await Promise.all(items.map(async (item) => toMessage(item)))
        for (const part of parts(messages)) await send(part)
      } finally {
        outstandingSince = undefined
      }
    },
  })

  return {
    write: (items, bytes) => writer.write(items, bytes),
    outstandingMs: () => (outstandingSince === undefined ? 0 : now() - outstandingSince),
    async close() {
      await writer.close()
      closed = true
      connecting?.abandon()
      await drop()
    },
  }

  async function send(messages: Message[]): Promise<void> {
    try {
      connected ??= await connect()
      connected.chosen.clear()
      const answers = await connected.producer.sendBatch({
        acks: -1,
        topicMessages: [{ topic, messages }],
      })
      requireAll(connected.chosen, answers)
    } catch (error) {
      // Whatever the broker has of this batch, the next one must not reuse its sequence numbers.
      await drop()
      logger.warn({ err: error, topic, messages: messages.length }, 'kafka batch not confirmed')
      throw kafkaFailure('confirm a write', error)
    }
  }

  /** The first `connect` of kafkajs gives up; the process must outlast a broker that is away. */
  async function connect(): Promise<ConnectedProducer> {
    for (;;) {
      if (closed) throw new DependencyError('the event log is closed', { retriable: true })
      // Set by hand: the unlimited default of an idempotent producer does not take effect.
      const client = newClient({ retries: Number.MAX_SAFE_INTEGER })
      connecting = client
      const chosen = new Set<number>()
      const producer = client.kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        retry: { ...RETRY, retries: Number.MAX_SAFE_INTEGER },
        createPartitioner: () => noting(chosen),
      })
      try {
        await producer.connect()
        return { client, producer, chosen }
      } catch (error) {
        logger.warn({ err: error }, 'kafka producer cannot connect')
        client.abandon()
      } finally {
        connecting = undefined
      }
      await pause(500 + Math.random() * 1500)
    }
  }

  async function drop(): Promise<void> {
    const dropped = connected
    connected = undefined
    if (dropped === undefined) return
    dropped.client.abandon()
    await dropped.producer.disconnect().catch((error: unknown) => {
      logger.debug({ err: error }, 'kafka producer did not disconnect')
    })
  }
}

type ConnectedProducer = {
  readonly client: KafkaClient
  readonly producer: Producer
  /** The partitions that the batch outstanding goes to. */
  readonly chosen: Set<number>
}

function noting(chosen: Set<number>) {
  const choose = Partitioners.DefaultPartitioner()
  return (message: Parameters<typeof choose>[0]) => {
    const partition = choose(message)
    chosen.add(partition)
    return partition
  }
}

/**
 * When a partition moves to a broker that has already answered in this send, kafkajs leaves it out
 * of the retry and reports success all the same: only an answer for every partition counts.
 */
function requireAll(chosen: ReadonlySet<number>, answers: readonly RecordMetadata[]): void {
  const answered = new Set(answers.map(({ partition }) => partition))
  const silent = [...chosen].filter((partition) => !answered.has(partition))
  if (silent.length > 0) {
    throw new Error(`no answer for partition ${silent.join(', ')}`)
  }
}

function* parts(messages: readonly Message[]): Generator<Message[]> {
  let part: Message[] = []
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

/** About what a message takes. */
export function messageBytes({ key, value }: Message): number {
  return Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '') + MESSAGE_OVERHEAD_BYTES
}
