import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { kafkaProxy, type KafkaProxy } from '../../services/kafka-proxy.ts'
import { freePort, type OwnServer } from '../../services/own-server.ts'
import { logOptions, startReading, whenReady } from './harness.ts'

await describeWith(['ownKafka'], 'a broken connection to Kafka', ({ ownKafka }) => {
  let proxy: KafkaProxy
  let broker: OwnServer & { brokers: string[] }
  let log: EventLog
  let topics = 0

  beforeAll(async () => {
    const port = await freePort()
    proxy = await kafkaProxy()
    proxy.forwardTo(port)
    broker = await ownKafka({ port, advertisedPort: proxy.port })
  })

  afterAll(async () => {
    await log?.close()
    await proxy?.close()
    await broker?.kill()
  })

  async function open() {
    await log?.close()
    topics += 1
    const topicPrefix = `gps-${topics}`
    log = openKafkaEventLog(logOptions({ brokers: broker.brokers, topicPrefix }))
    await whenReady(log)
  }

  test('20 responses lost during 50 concurrent appends: nothing acknowledged is lost or duplicated', async () => {
    await open()
    const acknowledged: string[] = []
    proxy.loseAnswers({ every: 3, times: 20 })
    await Promise.all(
      Array.from({ length: 50 }, async (_, device) => {
        while (proxy.lost() < 20) {
          const event = positionReported({ deviceId: `tracker-${device}` })
          await append(event)
          acknowledged.push(event.recordId)
        }
      }),
    )
    const reader = startReading(log)
    await eventually(() => new Set(reader.recordIds()).size >= acknowledged.length, {
      withinMs: 30_000,
    })
    await reader.stop()
    expect(new Set(reader.recordIds())).toEqual(new Set(acknowledged))
    expect(reader.recordIds()).toHaveLength(acknowledged.length)
    expect(acknowledged.length).toBeGreaterThan(500)
  })

  test('while the network drops everything, appends are rejected within 6 s; afterwards they succeed again', async () => {
    await open()
    await log.append([positionReported()])
    proxy.freeze()
    const begin = performance.now()
    const refusals = await Promise.allSettled(
      Array.from({ length: 20 }, () => log.append([positionReported()])),
    )
    expect(performance.now() - begin).toBeLessThan(6000)
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: { retriable: true } })
    }
    await expect(log.ready()).rejects.toBeInstanceOf(DependencyError)
    proxy.thaw()
    const event = positionReported()
    await append(event)
    await whenReady(log)
    const reader = startReading(log)
    await eventually(() => reader.recordIds().includes(event.recordId), { withinMs: 30_000 })
    await reader.stop()
  })

  test('a failed commit is retried even if no more entries arrive', async () => {
    await open()
    const reader = startReading(log)
    await log.append([positionReported()])
    await caughtUp(reader.group)
    const OFFSET_COMMIT = 8
    proxy.swallow(OFFSET_COMMIT, 1)
    await log.append([positionReported()])
    await caughtUp(reader.group)
    await reader.stop()
  })

  /** Resolves when the group has committed everything. */
  async function caughtUp(group: string): Promise<void> {
    await eventually(async () => (await log.lag(group)).events === 0, {
      withinMs: 30_000,
      everyMs: 100,
    })
  }

  /** Like senders: retries until acknowledged. */
  async function append(event: PositionReported): Promise<void> {
    await eventually(
      async () => {
        await log.append([event])
        return true
      },
      { withinMs: 30_000 },
    )
  }
})
