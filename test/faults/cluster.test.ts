import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Kafka, logLevel, type Admin } from 'kafkajs'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import type { KafkaCluster } from '../services/kafka-cluster.ts'
import { startPrograms } from './distributed-service.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acknowledges, startLoad, type Load } from './load.ts'
import { noteFault } from './table.ts'

const TOPIC = 'gps.position-reported'
const NODES = [1, 2, 3] as const
/** So many devices that every partition is reported to; slow enough to be read back soon. */
const LOAD = { concurrency: 24, pauseMs: 250 }

await describeWith(['ownKafkaCluster', 'ownMongodb'], 'a cluster of three brokers', (services) => {
  let cluster: KafkaCluster
  let service: Awaited<ReturnType<typeof startPrograms>>
  let admin: Admin
  const closers: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    cluster = await services.ownKafkaCluster()
    closers.push(() => cluster.kill())
    const mongodb = await services.ownMongodb()
    closers.push(() => mongodb.kill())
    service = await startPrograms({ brokers: cluster.brokers, mongodb })
    closers.push(() => service.close())
    admin = kafka(cluster.brokers).admin()
    await admin.connect()
    closers.push(() => admin.disconnect())
    await inSync()
  }, 240_000)

  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  }, 60_000)

  test('kill -9 of each broker in turn: accepting again within 10 s', async () => {
    const running = load()
    const seconds: string[] = []
    for (const node of NODES) {
      await acknowledges(running, 100)
      await broker(node).kill()
      seconds.push((await acceptingAgain(running)).toFixed(1))
      await broker(node).restart()
      await inSync()
    }
    await ends(running, 'each broker killed in turn', {
      'accepting again after s': seconds.join('/'),
    })
  })

  function load() {
    const running = startLoad({ urls: service.ingestUrls, key: service.key, ...LOAD })
    return Object.assign(running, {
      devices: () => [...new Set(running.sent.map(({ deviceId }) => deviceId))],
    })
  }

  function broker(node: number) {
    return cluster.nodes[node - 1]!
  }

  /** Seconds until each of the devices has been acknowledged anew; fails after 10 s. */
  async function acceptingAgain(
    running: ReturnType<typeof load>,
    devices = running.devices(),
  ): Promise<number> {
    const begin = performance.now()
    const before = running.acknowledged.length
    await eventually(
      () => {
        const since = new Set(running.acknowledged.slice(before).map(({ deviceId }) => deviceId))
        return devices.every((device) => since.has(device))
      },
      { withinMs: 10_000 },
    )
    return (performance.now() - begin) / 1000
  }

  /** Acknowledged = in the topic = stored, and nothing but 503 besides. */
  async function ends(
    running: Load,
    fault: string,
    figures: Record<string, string | number>,
  ): Promise<void> {
    await running.stop()
    expect(
      running.refused.filter(({ status, retryAfter }) => status !== 503 || !retryAfter),
    ).toEqual([])
    const outcome = await expectExactlyOnce(service, running, { withinMs: 120_000 })
    noteFault(fault, { ...outcome, refused: running.refused.length, ...figures })
  }

  /** Resolves when every partition has all its replicas again. */
  async function inSync(): Promise<void> {
    await eventually(
      async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC, '__consumer_offsets'] })
        const partitions = topics.flatMap((topic) => topic.partitions)
        return partitions.every(({ isr, replicas }) => isr.length === replicas.length)
      },
      { withinMs: 60_000, everyMs: 200 },
    )
  }
})

function kafka(brokers: string[]): Kafka {
  return new Kafka({
    clientId: 'test',
    brokers,
    logLevel: logLevel.NOTHING,
    retry: { retries: 10 },
  })
}
