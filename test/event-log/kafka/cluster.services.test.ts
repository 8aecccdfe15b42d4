import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import type { Logger } from '../../../event-log/kafka/kafka-client.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { partitionOf } from '../../../event-log/kafka/partitions.ts'
import { deviceKey } from '../../../schemas/events/position-reported.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import type { KafkaCluster } from '../../services/kafka-cluster.ts'
import {
  createTopic,
  logOptions,
  silent,
  startReading,
  startTailing,
  whenReady,
} from './harness.ts'

await describeWith(['ownKafkaCluster'], 'a log on several brokers', ({ ownKafkaCluster }) => {
  let cluster: KafkaCluster
  const closers: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    cluster = await ownKafkaCluster()
  })

  afterAll(async () => {
    await cluster?.kill()
  })

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  test('a partition without a leader fails alone; the others are written, read and measured', async () => {
    // One replica each: partition 0 on the first broker, 1 on the second, and so on.
    await createLoneTopic('lone.position-reported')
    const warnings: object[] = []
    const logger = { ...silent, warn: (fields: object) => void warnings.push(fields) }
    const log = openLog('lone', logger)
    await whenReady(log)
    expect(warnings).toContainEqual({ topic: 'lone.position-reported', partitions: 12, brokers: 3 })
    const [healthy, ill] = [
      devicesOf(({ partition }) => partition % 3 !== 1),
      devicesOf(({ partition }) => partition % 3 === 1),
    ] as const
    await log.append([...healthy, ...ill].map((deviceId) => positionReported({ deviceId })))
    const reader = startReading(log)
    await eventually(() => reader.entries.length === 24, { withinMs: 30_000 })

    await cluster.nodes[1]!.kill()
    const died = performance.now()
    const acknowledged: string[] = []
    const slowest = { healthy: 0, ill: 0 }
    // Longer than the cluster takes to notice.
    while (performance.now() - died < 15_000) {
      const event = positionReported({ deviceId: any(healthy) })
      slowest.healthy = Math.max(slowest.healthy, await took(() => log.append([event])))
      acknowledged.push(event.recordId)
      if (acknowledged.length % 20 !== 1) continue
      const refused = log.append([positionReported({ deviceId: any(ill) })])
      slowest.ill = Math.max(
        slowest.ill,
        await took(() => expect(refused).rejects.toMatchObject({ retriable: true })),
      )
    }
    expect(slowest.healthy).toBeLessThan(2000)
    expect(slowest.ill).toBeLessThan(6000)
    await log.ready()

    // A process that starts now has no earlier metadata.
    const fresh = openLog('lone')
    await whenReady(fresh)
    const event = positionReported({ deviceId: any(healthy) })
    await fresh.append([event])
    acknowledged.push(event.recordId)
    const ofIll = fresh.append([positionReported({ deviceId: any(ill) })])
    await expect(ofIll).rejects.toMatchObject({ retriable: true })
    await eventually(() => isSubset(acknowledged, reader.recordIds()), { withinMs: 30_000 })
    await eventually(async () => (await fresh.lag(reader.group)).events === 0)
    await expect(fresh.extent()).rejects.toThrow('no leader for partition 1, 4, 7, 10')

    await cluster.nodes[1]!.restart()
    const back = performance.now()
    const again = positionReported({ deviceId: any(ill) })
    await eventually(() => log.append([again]).then(() => true), { withinMs: 10_000 })
    expect(performance.now() - back).toBeLessThan(10_000)
    await eventually(() => reader.recordIds().includes(again.recordId), { withinMs: 30_000 })
    const tail = startTailing(fresh, {})
    await eventually(() => isSubset([...acknowledged, again.recordId], tail.recordIds()), {
      withinMs: 30_000,
    })
    await Promise.all([reader.stop(), tail.stop()])
  })

  function openLog(topicPrefix: string, logger: Logger = silent): EventLog {
    const log = openKafkaEventLog(logOptions({ brokers: cluster.brokers, topicPrefix, logger }))
    closers.push(() => log.close())
    return log
  }

  function createLoneTopic(topic: string): Promise<void> {
    const replicaAssignment = Array.from({ length: 12 }, (_, partition) => ({
      partition,
      replicas: [1 + (partition % 3)],
    }))
    // The events are old: by Kafka's own retention they would go half a minute after a broker's start.
    const configEntries = [{ name: 'retention.ms', value: '-1' }]
    return createTopic(cluster.brokers, { topic, replicaAssignment, configEntries })
  }
})

const PARTITIONS = Array.from({ length: 12 }, () => ({ leader: 1, inSync: 1 }))

/** A dozen devices, of all partitions that are `wanted`. */
function devicesOf(wanted: (place: { partition: number }) => boolean): string[] {
  const devices: string[] = []
  for (let number = 0; devices.length < 12; number += 1) {
    const deviceId = `tracker-${number}`
    const partition = partitionOf(deviceKey(positionReported({ deviceId })), PARTITIONS)
    if (wanted({ partition })) devices.push(deviceId)
  }
  return devices
}

function any(devices: readonly string[]): string {
  return devices[Math.floor(Math.random() * devices.length)]!
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  const known = new Set(all)
  return some.every((one) => known.has(one))
}
