import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import type { OwnServer } from '../../services/own-server.ts'
import { logOptions, startReading, startTailing, whenReady } from './harness.ts'

await describeWith(['ownKafka'], 'a killed broker', ({ ownKafka }) => {
  let broker: OwnServer & { brokers: string[] }
  let log: EventLog
  const fatal: Error[] = []

  beforeAll(async () => {
    broker = await ownKafka()
    log = openKafkaEventLog(
      logOptions({
        brokers: broker.brokers,
        topicPrefix: 'gps',
        onFatal: (error) => fatal.push(error),
      }),
    )
    await whenReady(log)
  })

  afterAll(async () => {
    await log?.close()
    await broker?.kill()
  })

  test('a killed broker loses nothing acknowledged; writing, reading and following resume within 30 s of its return', async () => {
    const acknowledged: string[] = []
    const refusals: unknown[] = []
    const slowest: number[] = []
    let loading = true
    const reader = startReading(log)
    const tail = startTailing(log, {})
    const load = Promise.all(
      Array.from({ length: 20 }, async (_, device) => {
        while (loading) {
          const event = positionReported({ deviceId: `tracker-${device}` })
          const begin = performance.now()
          await log.append([event]).then(
            () => acknowledged.push(event.recordId),
            (error: unknown) => refusals.push(error),
          )
          slowest.push(performance.now() - begin)
        }
      }),
    )
    await eventually(() => acknowledged.length > 200 && reader.entries.length > 0)
    await broker.kill()
    await eventually(() => refusals.length >= 20)
    await broker.restart()
    const before = acknowledged.length
    await eventually(() => acknowledged.length > before + 200, { withinMs: 30_000 })
    loading = false
    await load

    const seenBy = (ids: () => string[]) => () => {
      const seen = new Set(ids())
      return acknowledged.every((id) => seen.has(id))
    }
    await eventually(seenBy(reader.recordIds), { withinMs: 30_000 })
    await eventually(seenBy(tail.recordIds), { withinMs: 30_000 })
    expect(refusals.every((error) => error instanceof DependencyError && error.retriable)).toBe(
      true,
    )
    expect(Math.max(...slowest)).toBeLessThan(6000)
    expect(fatal).toEqual([])
    await whenReady(log)
    await Promise.all([reader.stop(), tail.stop()])
  })
})
