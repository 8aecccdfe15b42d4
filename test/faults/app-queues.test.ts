import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { APPS, type App } from '../app-queues/apps.ts'
import { expectDelivered } from '../app-queues/expect-delivered.ts'
import { recorded, runQueue, type QueueRun } from '../app-queues/run-queue.ts'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { noteFault } from './table.ts'

/** How long apps send to a service whose Kafka is away, until it is killed. */
const AWAY_MS = 2_000
const INGEST = ['ingest-1', 'ingest-2'] as const

await describeWith(['ownKafka', 'ownMongodb'], 'the queues of apps', (services) => {
  let service: DistributedService
  const stopping = new AbortController()
  const runs: Record<string, QueueRun> = {}
  let started: Promise<unknown> = Promise.resolve()

  async function startedAnew(part: (typeof INGEST)[number], signal: NodeJS.Signals) {
    const code = await service.end(part, signal)
    await service.start(part)
    return code
  }

  beforeAll(async () => {
    service = await startDistributedService(services)
  }, 240_000)

  afterAll(async () => {
    stopping.abort()
    await Promise.all(Object.values(runs).map(({ ended }) => ended))
    await service?.close()
  })

  test('drain with impossible points in them, answers lost, ingest APIs killed while Kafka is away, and one stopped', async () => {
    for (const [number, [name, app]] of Object.entries<App>(APPS).entries()) {
      const part = INGEST[number % 2]!
      runs[name] = runQueue({
        ...{ app, key: await service.createKey({ name }), items: recorded(app, 60, Date.now()) },
        ...{ losesEvery: 9, signal: stopping.signal },
        url: async () => {
          await started
          return service.url(part)
        },
      })
    }
    const all = Object.values(runs)
    const failures = () => all.map((run) => run.failures.length)
    await eventually(() => all.every(({ waiting, items }) => waiting() < items.length), {
      withinMs: 30_000,
    })

    const before = failures()
    service.kafkaLine.freeze()
    await pause(AWAY_MS)
    // Anything accepted since then is not on disk: none of it may have been acknowledged.
    started = Promise.all(INGEST.map((part) => startedAnew(part, 'SIGKILL')))
    await started
    service.kafkaLine.thaw()
    await eventually(() => failures().every((count, index) => count > before[index]!), {
      withinMs: 30_000,
    })

    expect(all.filter(({ waiting }) => waiting() === 0)).toEqual([])
    started = startedAnew('ingest-1', 'SIGTERM')
    expect(await started).toBe(0)

    await expectDelivered(service, runs, { withinMs: 240_000 })
    const failed = Object.entries(runs).map(([name, run]) => [name, run.failures.length])
    noteFault('queues of apps', Object.fromEntries(failed) as Record<string, number>)
  })
})
