// A complete consumer of accepted positions, heartbeats, facts and erasures. It imports nothing from the service and
// relies only on schemas/asyncapi.yaml. To use it elsewhere, copy the folder and install kafkajs and
// @kafkajs/confluent-schema-registry.
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { Kafka, logLevel, type KafkaMessage } from 'kafkajs'
import { HELP, parseOptions, UsageError, type Options } from './options.ts'
import {
  readEvent,
  type Erasure,
  type DecidedFact,
  type Heartbeat,
  type Position,
} from './read-event.ts'
import { recentIds } from './recent-ids.ts'

/** About 20 MB, with the device of each id. */
const REMEMBERED_IDS = 100_000

process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options === 'help') {
      process.stdout.write(HELP)
      return 0
    }
    return await consume(options)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** Reads until a signal or an unrecoverable error. Returns the exit code. */
async function consume({ brokers, topic, group, registry }: Options): Promise<number> {
  const kafka = new Kafka({ clientId: group, brokers: [...brokers], logLevel: logLevel.WARN })
  const schemas = registry === undefined ? undefined : new SchemaRegistry({ host: registry })
  const consumer = kafka.consumer({ groupId: group, allowAutoTopicCreation: false })
  const done = recentIds(REMEMBERED_IDS)
  /** When devices were last erased. Keep these times with your results if you need them after a restart. */
  const erased = new Map<string, number>()

  const ended = new Promise<number>((resolve) => {
    process.once('SIGTERM', () => resolve(0)).once('SIGINT', () => resolve(0))
    // The reader of our output has gone.
    process.stdout.on('error', () => resolve(1))
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      // Otherwise kafkajs restarts.
      if (!payload.restart) resolve(1)
    })
  })
  try {
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    // kafkajs commits an offset only after `eachMessage` has resolved. If this process dies, the
    // message in progress is delivered again, to it or to another member of the group.
    await consumer.run({
      eachMessage: ({ partition, message }) => handle(partition, message),
    })
    return await ended
  } finally {
    await consumer.disconnect()
  }

  async function handle(partition: number, message: KafkaMessage): Promise<void> {
    const event = await readEvent(message, schemas)
    if (event.kind === 'skipped') {
      const key = message.key?.toString() ?? 'no key'
      await write(
        process.stderr,
        `skipped ${partition}/${message.offset} (${key}): ${event.reason}\n`,
      )
      return
    }
    if (event.kind === 'erasure') {
      const { eventId } = event.erasure
      const place = `${eventId} at ${partition}/${message.offset}`
      // A copy at another offset is not a second erasure. The same entry delivered again is processed
      // again, because positions before it were delivered again too.
      if (done.has(eventId) && !done.has(place)) return
      await processErasure(event.erasure)
      const device = deviceOf(event.erasure)
      done.forget(device)
      erased.set(device, Math.max(event.erasure.erasedAt, erased.get(device) ?? 0))
      for (const id of [eventId, place]) done.add(id, 'no device')
      return
    }
    if (event.kind === 'fact') {
      if (done.has(event.fact.id)) return
      await processFact(event.fact)
      done.add(event.fact.id, deviceOf(event.fact))
      return
    }
    const report = event.kind === 'heartbeat' ? event.heartbeat : event.position
    const erasedAt = erased.get(deviceOf(report)) ?? 0
    if (event.spooled && report.receivedAt <= erasedAt) return
    // A repeated heartbeat does no harm.
    if (event.kind === 'heartbeat') return processHeartbeat(event.heartbeat)
    if (done.has(event.id)) return
    await processPosition(event.position)
    // Only after processing: after a failure the record is redelivered and is not a repeat.
    done.add(event.id, deviceOf(event.position))
  }
}

/** Your own code goes here; it should tolerate running twice for one `recordId`. */
async function processPosition({ timestamp, receivedAt, ...position }: Position): Promise<void> {
  const line = {
    ...position,
    timestamp: new Date(timestamp).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  }
  await write(process.stdout, `${JSON.stringify(line)}\n`)
}

/**
 * Advance the time you last saw the device, if you have a position of it: the newest `receivedAt`
 * of its positions and heartbeats.
 */
async function processHeartbeat({ receivedAt, ...device }: Heartbeat): Promise<void> {
  const line = { ...device, seenAt: new Date(receivedAt).toISOString() }
  await write(process.stdout, `${JSON.stringify(line)}\n`)
}

/** From the topic gps.device-events: something happened to a device. */
async function processFact(fact: DecidedFact): Promise<void> {
  await write(process.stdout, `${JSON.stringify(fact)}\n`)
}

/** Delete all positions, or facts, of the device that you have stored so far. */
async function processErasure({ erasedAt, ...erasure }: Erasure): Promise<void> {
  const line = { ...erasure, erasedAt: new Date(erasedAt).toISOString() }
  await write(process.stdout, `${JSON.stringify(line)}\n`)
}

function deviceOf({ accountId, deviceId }: { accountId: string; deviceId: string }): string {
  return `${accountId}/${deviceId}`
}

function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
}
