import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import type { TailItem } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import type { StreamOptions } from '../../../admin-api/stream/options.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { createTopic, logOptions, plainKafka, whenReady } from '../../event-log/kafka/harness.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

const SOON = { withinMs: 30_000 }

await describeWith(['kafka'], 'the stream on Kafka', ({ kafka }) => {
  const { brokers } = kafka
  let harness: StreamHarness
  let topicPrefix = ''
  let tails = 0

  async function* counted(tail: AsyncIterable<TailItem>) {
    tails += 1
    try {
      yield* tail
    } finally {
      tails -= 1
    }
  }

  afterEach(async () => {
    await harness.close()
    // Their consumers leave their groups after the log is closed.
    await eventually(() => tails === 0, SOON)
  })

  test('a resuming reader misses nothing of any partition', async () => {
    const { eventLog, listen } = await start({ ringEntries: 60, heartbeatMs: 50, gatherMs: 0 })
    const first = await listen()
    const events = some(600)
    await appendInTurns(events.slice(0, 60))
    await eventually(() => first.events.length >= 60, SOON)
    first.close()
    const seen = first.events.slice(0, 31)
    const appending = appendInTurns(events.slice(60))
    while (seen.length < events.length) {
      const again = await listen({ lastEventId: seen.at(-1)?.id ?? '' })
      const isDone = () => seen.length + again.of('position').length >= events.length
      // The reader may have to reconnect, because it is slower than the events.
      await eventually(() => isDone() || again.of('lagging').length > 0, SOON)
      seen.push(...again.of('position'))
    }
    await appending
    const ids = seen.map(({ data }) => data['recordId'])
    expect(new Set(ids)).toEqual(new Set(events.map(({ recordId }) => recordId)))
    expect(ids).toHaveLength(events.length)
    for (const deviceId of ['tracker-0', 'tracker-23']) {
      const own = seen.filter(({ data }) => data['deviceId'] === deviceId)
      expect(own.map(({ data }) => data['recordId'])).toEqual(
        events.filter((event) => event.deviceId === deviceId).map(({ recordId }) => recordId),
      )
    }

    async function appendInTurns(some: readonly PositionReported[]) {
      for (let at = 0; at < some.length; at += 30) await eventLog.append(some.slice(at, at + 30))
    }
  })

  test('readers get a gap after the topic was recreated, and miss nothing new', async () => {
    const { eventLog, listen } = await start({ heartbeatMs: 50, gatherMs: 0 })
    const running = await listen()
    await eventLog.append(some(60))
    await eventually(() => running.events.length === 60, SOON)
    const lastEventId = running.lastEventId()
    const topic = `${topicPrefix}.position-reported`
    const admin = plainKafka(brokers).admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [topic] })
    await eventually(async () => !(await admin.listTopics()).includes(topic), SOON)
    await admin.disconnect()
    await createTopic(brokers, { topic, numPartitions: 12 })
    const other = openKafkaEventLog(logOptions({ brokers, topicPrefix }))
    closeAfterwards(() => other.close())
    await whenReady(other)
    // The running reader's consumer notices the recreated topic with its first events.
    const events = some(24)
    await other.append(events)
    const again = await listen({ lastEventId })
    const ids = events.map(({ recordId }) => recordId)
    for (const reader of [running, again]) {
      await eventually(() => ids.every((id) => reader.recordIds().includes(id)), SOON)
      expect(reader.of('gap').length).toBeGreaterThan(0)
    }
  })

  async function start(stream: Partial<StreamOptions>) {
    topicPrefix = `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
    harness = await startStreaming({
      stream,
      openLog({ clock }) {
        const log = openKafkaEventLog(logOptions({ brokers, clock, topicPrefix }))
        return { ...log, tail: (options) => counted(log.tail(options)) }
      },
    })
    await whenReady(harness.eventLog)
    return harness
  }
})

/** Log entries of 24 devices, one after another. */
function some(count: number): PositionReported[] {
  return Array.from({ length: count }, (_, index) =>
    positionReported({ deviceId: `tracker-${index % 24}` }),
  )
}
