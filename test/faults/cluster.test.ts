import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import { startClusterService, type ClusterService } from './cluster-service.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acceptsAgain, acknowledges, devicesOf, startLoad, type Load } from './load.ts'
import { noteFault, SHORT } from './table.ts'

const NODES = [1, 2, 3] as const
/** Enough devices to reach every partition; slow enough to be read back soon. */
const LOAD = { concurrency: 24, pauseMs: 250 }
/** Promised: a caller gets an error within this time. */
const REFUSED_WITHIN_MS = 6_000

await describeWith(['ownKafkaCluster', 'ownMongodb'], 'a cluster of three brokers', (services) => {
  let service: ClusterService
  let running: Load
  const closers: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    service = await startClusterService(services, closers)
    await service.inSync()
  })

  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  afterEach(() => running.stop())

  test('reports are accepted again within 10 s of kill -9 of each broker', async () => {
    running = load()
    const seconds: string[] = []
    for (const node of NODES) {
      await acknowledges(running, 100)
      await service.broker(node).kill()
      seconds.push((await acceptsAgain(running)).toFixed(1))
      await service.broker(node).restart()
      await service.inSync()
    }
    await ends('each broker killed, one after another', {
      'accepting again after s': seconds.join('/'),
    })
  })

  test('while two of three brokers are down, nothing is acknowledged and every response is a 503', async () => {
    running = load()
    await acknowledges(running, 100)
    await Promise.all([service.broker(1).kill(), service.broker(2).kill()])
    // By then the third process has responded to earlier requests that it could not confirm.
    let before = -1
    await eventually(() => before === (before = running.acknowledged.length), { everyMs: 1_000 })
    await pause(SHORT ? 8_000 : 30_000)
    expect(running.acknowledged.length).toBe(before)
    expect(await readiness('ingest-1')).toBe(503)
    await Promise.all([service.broker(1).restart(), service.broker(2).restart()])
    const seconds = await acceptsAgain(running)
    await service.inSync()
    expect(slowestRefusal(running)).toBeLessThan(REFUSED_WITHIN_MS)
    await ends('two of three brokers down', {
      'slowest refusal ms': slowestRefusal(running),
      'accepting again after s': seconds.toFixed(1),
    })
  })

  test('a rolling restart', async () => {
    running = load()
    const seconds: string[] = []
    for (const node of SHORT ? NODES.slice(0, 1) : NODES) {
      await acknowledges(running, 100)
      await service.broker(node).stop()
      seconds.push((await acceptsAgain(running)).toFixed(1))
      await service.broker(node).restart()
      await service.inSync()
    }
    await acknowledges(running, 100)
    await ends('a rolling restart', { 'accepting again after s': seconds.join('/') })
  })

  function load(): Load {
    return startLoad({ urls: service.ingestUrls, key: service.key, ...LOAD })
  }

  async function readiness(part: 'ingest-1'): Promise<number> {
    return (await fetch(`${service.url(part)}/readyz`)).status
  }

  /** Acknowledged = in the topic = stored, with exact counts and no errors but 503. */
  async function ends(fault: string, figures: Record<string, string | number>): Promise<void> {
    await running.stop()
    // Requests in progress that were not acknowledged may still reach the topic until they are
    // abandoned.
    await pause(REFUSED_WITHIN_MS)
    const odd = running.refused.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)
    expect(odd).toEqual([])
    const devices = new Set(devicesOf(running))
    const all = await service.reportsInTopic()
    const inTopic = all.filter(({ deviceId }) => devices.has(deviceId))
    const ids = new Set(inTopic.map(({ recordId }) => recordId))
    expect(running.acknowledged.filter(({ recordId }) => !ids.has(recordId))).toEqual([])
    const { stored } = await expectExactlyOnce(
      service,
      { acknowledged: inTopic, sent: running.sent },
      { withinMs: 120_000 },
    )
    expect(stored).toBe(inTopic.length)
    noteFault(fault, {
      acknowledged: running.acknowledged.length,
      'in the topic': inTopic.length,
      stored,
      refused: running.refused.length,
      ...figures,
    })
  }
})

function slowestRefusal({ refused }: Load): number {
  return Math.round(Math.max(0, ...refused.map(({ afterMs }) => afterMs)))
}
