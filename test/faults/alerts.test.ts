import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import type { Prometheus } from '../services/prometheus.ts'
import { flakyProxy, type FlakyProxy } from '../store/mongo/flaky-proxy.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { startLoad, type Load } from './load.ts'
import { noteFault } from './table.ts'

/**
 * The factor by which this test shortens every duration in the rules: five minutes become ten
 * seconds.
 */
const FASTER = 30
/** How long firing alerts are watched: 5 minutes of the rules' time. */
const LOOKED_AT_MS = 10_000

await describeWith(['ownKafka', 'ownMongodb', 'prometheus'], 'the alerts', (services) => {
  let service: DistributedService
  let mongodbLine: FlakyProxy
  let prometheus: Prometheus
  let load: Load

  beforeAll(async () => {
    service = await startDistributedService({
      ...services,
      async ownMongodb(options) {
        const server = await services.ownMongodb(options)
        mongodbLine = await flakyProxy(server.url)
        return Object.assign(Object.create(server) as typeof server, { url: mongodbLine.url })
      },
    })
    const parts = ['ingest-1', 'ingest-2', 'projector-1', 'projector-2', 'admin'] as const
    prometheus = await services.prometheus({
      targets: parts.map((part) => new URL(service.url(part)).host),
      rules: faster(readFileSync(new URL('../../ops/alerts.yaml', import.meta.url), 'utf8')),
    })
    await eventually(
      async () => (await prometheus.query('count(gps_ready == 1) == 5')).length > 0,
      {
        withinMs: 60_000,
        everyMs: 500,
      },
    )
    load = startLoad({ urls: service.ingestUrls, key: service.key, concurrency: 2, pauseMs: 20 })
  })

  afterEach(() => eventually(() => fires([]), { withinMs: 90_000, everyMs: 500 }), 100_000)

  afterAll(async () => {
    await load?.stop()
    await prometheus?.kill()
    await service?.close()
    await mongodbLine?.close()
  })

  async function fires(alerts: readonly string[]): Promise<boolean> {
    return (await prometheus.firing()).join() === alerts.join()
  }

  /** Waits until all of these fire; no others may until then, or for a while after. */
  async function expectAlerts(fault: string, alerts: readonly string[]): Promise<void> {
    const from = performance.now()
    const seen = new Set<string>()
    const look = async () => (await prometheus.firing()).forEach((alert) => seen.add(alert))
    await eventually(async () => (await look(), await fires(alerts)), {
      withinMs: 60_000,
      everyMs: 500,
    }).catch(() => undefined)
    const afterMs = performance.now() - from
    await stays(look)
    expect([...seen].sort()).toEqual(alerts)
    const after = Math.round((afterMs * FASTER) / 1000)
    noteFault(fault, { alerts: alerts.join(' '), 'all firing after': `${after} s` })
  }

  async function stays(look: () => Promise<void>): Promise<void> {
    const until = performance.now() + LOOKED_AT_MS
    await eventually(async () => (await look(), performance.now() > until), {
      withinMs: 2 * LOOKED_AT_MS,
      everyMs: 500,
    })
  }

  test('no alert fires while everything works', async () => {
    await expectAlerts('nothing', [])
  })

  test('GpsInstanceDown fires while the projectors are stopped', async () => {
    const projectors = [service.program('projector-1'), service.program('projector-2')]
    for (const { process } of projectors) process.kill('SIGSTOP')
    try {
      await expectAlerts('projectors stopped', ['GpsInstanceDown'])
    } finally {
      for (const { process } of projectors) process.kill('SIGCONT')
    }
  })

  test('the alerts of readiness and of the projector fire while MongoDB hangs', async () => {
    await mongodbLine.become('silent')
    try {
      await expectAlerts('MongoDB hangs', ['GpsNotReady', 'GpsProjectorLag', 'GpsProjectorStalled'])
    } finally {
      // Pending calls never get a response: only a new connection works again.
      await mongodbLine.become('refuse')
      await mongodbLine.become('pass')
    }
  })

  test('the alerts of errors and of readiness fire while Kafka is down', async () => {
    await service.kafka.kill()
    try {
      await expectAlerts('Kafka away', ['GpsErrors', 'GpsNotReady'])
    } finally {
      await service.kafka.restart()
    }
  })
})

/** The rules with every duration shortened, including the one threshold that is a duration. */
function faster(rules: string): string {
  return rules
    .replace(/(for: |\[|offset )(\d+)([mhd])/g, (_all, before: string, count, unit) => {
      const seconds = Number(count) * { m: 60, h: 3_600, d: 86_400 }[unit as 'm' | 'h' | 'd']
      return `${before}${(seconds * 1000) / FASTER}ms`
    })
    .replace(
      /gps_projector_lag_seconds\) > (\d+)/,
      (_all, seconds) => `gps_projector_lag_seconds) > ${Number(seconds) / FASTER}`,
    )
}
