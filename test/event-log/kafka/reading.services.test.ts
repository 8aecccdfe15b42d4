import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { CompressionTypes, type ConsumerConfig, type Kafka } from 'kafkajs'
import type { EventLog } from '../../../event-log/event-log.ts'
import { endOf, hasReached } from '../../../event-log/offsets.ts'
import { kafkaClient, type KafkaClient } from '../../../event-log/kafka/kafka-client.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { tail } from '../../../event-log/kafka/tail.ts'
import { encodePositionReported } from '../../../schemas/events/position-reported.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import {
  createTopic,
  logOptions,
  occupyGroup,
  openLog,
  plainKafka,
  putRaw,
  readTopic,
  silent,
  startReading,
  startTailing,
} from './harness.ts'

const SOON = { withinMs: 30_000 }

await describeWith(['kafka'], 'reading from Kafka', ({ kafka }) => {
  const { brokers } = kafka

  test('records carry the event as CloudEvents, and receivedAt as their time', async () => {
    const { log, topic } = await openLog(kafka)
    const event = positionReported({ deviceId: 'Süd 7' })
    await log.append([event])
    const [message] = await readTopic(brokers, topic, 1)
    expect(message!.key!.toString()).toBe('acc-1/Süd 7')
    expect(message!.timestamp).toBe(String(event.receivedAt))
    expect(message!.value!.toString()).toBe(encodePositionReported(event))
    const headers = Object.entries(message!.headers ?? {}).map(([name, value]) => [
      name,
      String(value),
    ])
    expect(Object.fromEntries(headers)).toEqual({
      ce_specversion: '1.0',
      ce_id: event.recordId,
      ce_source: 'gps-position-ingestion',
      ce_type: 'PositionReported.v1',
      ce_time: new Date(event.receivedAt).toISOString(),
      'content-type': 'application/json',
    })
  })

  test('a dead letter keeps its bytes, also a large one, and says where it came from', async () => {
    const { log, topic, topicPrefix } = await openLog(kafka)
    const value = Buffer.alloc(1_000_000, 0xff)
    await putRaw(brokers, topic, { key: 'acc-1/tracker-1', value })
    const reader = startReading(log)
    await eventually(() => reader.entries.length >= 1, SOON)
    await reader.stop()
    const entry = reader.entries[0]!
    if (entry.kind !== 'unreadable') throw new Error('it was read')
    const larger = { ...entry, value: Buffer.alloc(8_000_000, 0xfe) }
    await log.deadLetters.append([entry, larger])
    const [kept, keptLarger] = await readTopic(brokers, `${topicPrefix}.dead-letter`, 2)
    expect(kept!.value!.equals(value)).toBe(true)
    expect(kept!.key!.toString()).toBe('acc-1/tracker-1')
    expect(keptLarger!.value!.equals(larger.value)).toBe(true)
    expect(String(kept!.headers?.['error'])).toBe(entry.reason)
    expect(String(kept!.headers?.['topic'])).toBe(topic)
    expect(String(kept!.headers?.['partition'])).toBe(String(entry.origin.partition))
    expect(String(kept!.headers?.['offset'])).toBe(String(entry.origin.offset))
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'])('batches that are %s are read', async (codec) => {
    const topicPrefix = aPrefix()
    const topic = `${topicPrefix}.position-reported`
    // The broker recompresses batches with another codec.
    const configEntries = [{ name: 'compression.type', value: codec }]
    await createTopic(brokers, { topic, configEntries })
    const producer = plainKafka(brokers).producer()
    const events = Array.from({ length: 300 }, () => positionReported())
    await producer.connect()
    await producer.send({
      topic,
      compression: CompressionTypes.None,
      messages: events.map((event) => ({ key: 'k', value: encodePositionReported(event) })),
    })
    await producer.disconnect()
    const { log } = await openLog(kafka, { topicPrefix: topicPrefix })
    const reader = startReading(log)
    await eventually(() => reader.entries.length >= events.length, SOON)
    await reader.stop()
    expect(reader.recordIds()).toEqual(events.map(({ recordId }) => recordId))
  })

  test('two members share the partitions, and when one ends the other has all', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const other = await openLog(kafka, { topicPrefix: topicPrefix })
    const first = startReading(log)
    await appendToAll(log)
    await eventually(() => first.partitions().size === 12, SOON)

    const second = startReading(other.log, first.group)
    await eventually(async () => {
      await appendToAll(log)
      return second.partitions().size === 6
    }, SOON)
    await second.stop()
    const taken = first.entries.length
    await eventually(async () => {
      await appendToAll(log)
      return first.partitions(taken).size === 12
    }, SOON)
    await first.stop()
  })

  test('a member that hangs in a batch stays in the group', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const other = await openLog(kafka, { topicPrefix: topicPrefix })
    await log.append([positionReported()])
    let attempts = 0
    let release = () => {}
    const hanging = new Promise<void>((resolve) => (release = resolve))
    const stuck = startReading(log, undefined, async () => {
      attempts += 1
      await hanging
    })
    await eventually(() => attempts === 1, SOON)
    const admin = plainKafka(brokers).admin()
    await admin.connect()
    const begin = performance.now()
    // Longer than the session timeout of 10 s.
    await eventually(
      async () => {
        const { groups } = await admin.describeGroups([`${topicPrefix}.${stuck.group}`])
        expect(groups[0]?.members).toHaveLength(1)
        return performance.now() - begin > 13_000
      },
      { withinMs: 30_000, everyMs: 500 },
    )
    await admin.disconnect()
    release()
    await eventually(() => stuck.entries.length === 1, SOON)
    await stuck.stop()
    const next = startReading(other.log, stuck.group)
    await log.append([positionReported()])
    await eventually(() => next.entries.length === 1, SOON)
    await next.stop()
    expect(attempts).toBe(1)
  })

  test('members and tails read past a transactional producer’s marker at the end of a partition', async () => {
    const { log, topic } = await openLog(kafka)
    const reader = startReading(log)
    const live = startTailing(log, {})
    const producer = plainKafka(brokers).producer({
      transactionalId: topic,
      idempotent: true,
      maxInFlightRequests: 1,
    })
    await producer.connect()
    const write = async (end: 'commit' | 'abort') => {
      const transaction = await producer.transaction()
      const value = encodePositionReported(positionReported())
      await transaction.send({ topic, messages: [{ key: 'acc-1/tracker-1', value }] })
      await transaction[end]()
      await eventually(async () => (await log.lag(reader.group)).events === 0, SOON)
      const whole = endOf(await log.extent())
      await eventually(() => hasReached(live.marks(), whole), SOON)
    }
    await write('commit')
    await write('abort')
    await producer.disconnect()
    await Promise.all([reader.stop(), live.stop()])
    expect(reader.entries).toHaveLength(1)
    expect(live.items.every(({ kind }) => kind === 'batch')).toBe(true)
    expect(live.recordIds()).toHaveLength(1)
  })

  test('a consumer that kafkajs gave up is replaced, and the process keeps running', async () => {
    const { topicPrefix, topic } = await openLog(kafka)
    const group = 'projector'
    const leave = await occupyGroup(brokers, { groupId: `${topicPrefix}.${group}`, topic })
    let renewed = 0
    const fatal: Error[] = []
    const log = openKafkaEventLog(
      logOptions({
        brokers,
        topicPrefix,
        onReaderRenewed: () => (renewed += 1),
        onFatal: (error) => fatal.push(error),
      }),
    )
    closeAfterwards(() => log.close())
    const reader = startReading(log, group)
    await eventually(() => renewed >= 2, SOON)
    await leave()
    await log.append([positionReported()])
    await eventually(() => reader.entries.length === 1, SOON)
    expect(fatal).toEqual([])
    await reader.stop()
  })

  test('a process exits once its consumers have failed for too long', async () => {
    const { topicPrefix, topic } = await openLog(kafka)
    const group = 'projector'
    closeAfterwards(await occupyGroup(brokers, { groupId: `${topicPrefix}.${group}`, topic }))

    const fatal: Error[] = []
    const log = openKafkaEventLog(
      logOptions({
        brokers,
        topicPrefix,
        readersGivenUpAfterMs: 1500,
        onFatal: (error) => fatal.push(error),
      }),
    )
    closeAfterwards(() => log.close())
    const reader = startReading(log, group)
    await expect(reader.ended).rejects.toMatchObject({ name: 'DependencyError' })
    expect(fatal).toHaveLength(1)
  })

  test('dead letters as old as the trimmed events are deleted, too', async () => {
    const { log } = await openLog(kafka)
    const letter = {
      kind: 'unreadable',
      origin: { partition: 3, offset: 7 },
      reason: 'no',
    } as const
    await log.deadLetters.append([{ ...letter, key: null, value: Buffer.from('{') }])
    await log.trim(T0 - 60_000)
    expect(await log.deadLetters.count()).toBe(1)
    await log.trim(Date.now() + 60_000)
    expect(await log.deadLetters.count()).toBe(0)
  })

  test('a tail from before the trimmed offset starts with one gap for the partition', async () => {
    const { log } = await openLog(kafka)
    const old = [positionReported(), positionReported()]
    const kept = positionReported({ receivedAt: old[1]!.receivedAt + 60_000 })
    await log.append([...old, kept])
    await log.trim(kept.receivedAt)
    const reader = startTailing(log, {})
    await eventually(() => reader.recordIds().length === 1, SOON)
    expect(reader.items.map(({ kind }) => kind)).toEqual(['gap', 'batch'])
    expect(reader.recordIds()).toEqual([kept.recordId])
    await reader.stop()
  })

  test('a tail resuming from its last marks misses and repeats nothing', async () => {
    const { log } = await openLog(kafka)
    const events = Array.from({ length: 60 }, (_, index) =>
      positionReported({ deviceId: `tracker-${index % 10}` }),
    )
    await log.append(events.slice(0, 30))
    const first = startTailing(log, {})
    await eventually(() => first.recordIds().length === 30, SOON)
    await first.stop()
    await log.append(events.slice(30))
    const second = startTailing(log, first.marks())
    await eventually(() => second.recordIds().length === 30, SOON)
    await second.stop()
    expect(new Set([...first.recordIds(), ...second.recordIds()])).toEqual(
      new Set(events.map(({ recordId }) => recordId)),
    )
  })

  test('a tail throws when its consumer has stalled without an error', async () => {
    const { log, topic } = await openLog(kafka)
    await log.append([positionReported()])
    let left = false
    const held = async () =>
      (await log.extent()).map(({ partition, first, next }) => ({
        partition,
        low: first,
        high: next,
      }))
    const read = tail({
      after: {},
      signal: new AbortController().signal,
      newClient: pausingClient,
      groupId: `${topic}.stalling`,
      topic,
      toEntry: async ({ offset }) => offset,
      bounds: held,
      logger: silent,
      stalled: { stalledAfterMs: 2000, lookEveryMs: 200 },
    })
    await expect(read.next()).rejects.toMatchObject({ name: 'DependencyError' })
    await eventually(() => left, SOON)

    /** Its consumers get partitions and fetch nothing. */
    function pausingClient(): KafkaClient {
      const client = kafkaClient({ brokers, clientId: 'stalling', logger: silent }, { retries: 5 })
      const kafka = Object.create(client.kafka, {
        consumer: {
          value(options: ConsumerConfig) {
            const consumer = client.kafka.consumer(options)
            consumer.on(consumer.events.GROUP_JOIN, () => consumer.pause([{ topic }]))
            consumer.on(consumer.events.DISCONNECT, () => (left = true))
            return consumer
          },
        },
      }) as Kafka
      return { ...client, kafka }
    }
  })

  function appendToAll(log: EventLog): Promise<void> {
    return log.append(
      Array.from({ length: 200 }, (_, device) =>
        positionReported({ deviceId: `tracker-${device}` }),
      ),
    )
  }

  function aPrefix(): string {
    return `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
  }
})
