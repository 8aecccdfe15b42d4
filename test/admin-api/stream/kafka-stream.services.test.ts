import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import type { TailItem } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { writeMark } from '../../../admin-api/stream/mark.ts'
import type { StreamOptions } from '../../../admin-api/stream/options.ts'
import type { PositionReported } from '../../../schemas/position-reported.ts'
import { logOptions, whenReady } from '../../event-log/kafka/harness.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

const SOON = { withinMs: 30_000 }
const DEVICE = { deviceId: 'tracker-1' }

await describeWith(['kafka'], 'the stream on Kafka', ({ kafka }) => {
  const { brokers } = kafka
  let harness: StreamHarness
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

  test('a reader that comes back misses nothing of any partition', async () => {
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
  }, 90_000)

  test('what was appended before the first reader is not for it, what comes then is', async () => {
    const { eventLog, listen } = await start({ heartbeatMs: 50 })
    await eventLog.append(some(100))
    const source = await listen()
    const events = some(24)
    await eventLog.append(events)
    await eventually(() => source.events.length >= 24, SOON)
    expect(new Set(source.recordIds())).toEqual(new Set(events.map(({ recordId }) => recordId)))
  })

  test('retention makes a gap, and what there is follows', async () => {
    const { eventLog, listen } = await start({ ringEntries: 20, heartbeatMs: 50 })
    const begin = (await listen()).lastEventId()
    const old = some(100, { receivedAt: T0 })
    const kept = some(100, { receivedAt: T0 + 60_000 })
    await eventLog.append(old)
    await eventLog.append(kept)
    await eventLog.trim(T0 + 1)
    // Otherwise the ring overtakes the reader, which then has to reconnect.
    await eventually(async () => {
      const now = await listen()
      now.close()
      return now.lastEventId() === (await endOfLog())
    })
    const again = await listen({ lastEventId: begin })
    await eventually(() => again.of('position').length >= kept.length, SOON)
    expect(again.of('gap')).toHaveLength(1)
    expect(again.events[0]).toMatchObject({ event: 'gap' })
    expect(new Set(again.recordIds())).toEqual(new Set(kept.map(({ recordId }) => recordId)))
  })

  test('an erased device is not replayed', async () => {
    const { eventLog, listen, erase } = await start({ ringEntries: 200, heartbeatMs: 20 })
    const live = await listen({ query: '?deviceId=silent' })
    const begin = live.lastEventId()
    for (let round = 0; round < 3; round += 1) await appendAndWait(some(100, DEVICE))
    await erase(DEVICE.deviceId)
    const after = [...some(48), ...some(2, DEVICE)]
    await appendAndWait(after)
    const again = await listen({ lastEventId: begin })
    await eventually(() => again.of('position').length >= after.length, SOON)
    expect(new Set(again.recordIds())).toEqual(new Set(after.map(({ recordId }) => recordId)))

    async function appendAndWait(events: readonly PositionReported[]) {
      await eventLog.append(events)
      const end = await endOfLog()
      await eventually(() => live.lastEventId() === end, SOON)
    }
  })

  /** Equals the id of a reader that has read everything. */
  async function endOfLog(): Promise<string> {
    const end: Record<number, number> = {}
    for (const { partition, next } of await harness.eventLog.extent()) {
      if (next > 0) end[partition] = next - 1
    }
    return writeMark(end)
  }

  async function start(stream: Partial<StreamOptions>) {
    harness = await startStreaming({
      stream,
      openLog({ clock }) {
        const topicPrefix = `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
        const log = openKafkaEventLog(logOptions({ brokers, clock, topicPrefix }))
        return { ...log, tail: (options) => counted(log.tail(options)) }
      },
    })
    await whenReady(harness.eventLog)
    return harness
  }
})

/** Events of 24 devices in turn, unless `changes` name one. */
function some(count: number, changes: Partial<PositionReported> = {}): PositionReported[] {
  return Array.from({ length: count }, (_, index) =>
    positionReported({ deviceId: `tracker-${index % 24}`, ...changes }),
  )
}
