import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningProgram } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import {
  startDistributedService,
  type DistributedService,
  type Part,
} from './distributed-service.ts'
import { expectAlarmsInTopic, startAlarms } from './alarms.ts'
import { expectFactsOfModel } from './facts-of-model.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acknowledges, startLoad, type Load } from './load.ts'
import { noteFault, SHORT } from './table.ts'

const KILLS = SHORT ? 3 : 10
const AWAY_MS = SHORT ? 15_000 : 60_000

await describeWith(['ownKafka', 'ownMongodb'], 'three services under faults', (services) => {
  let service: DistributedService

  beforeAll(async () => {
    service = await startDistributedService(services)
  })

  afterAll(() => service?.close(), 60_000)

  function load(concurrency = 8): Load {
    return startLoad({ urls: service.ingestUrls, key: service.key, concurrency, pauseMs: 50 })
  }

  /** Resident memory of a process in megabytes. */
  function memoryOf(part: Part): number {
    const status = readFileSync(`/proc/${service.program(part).process.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }

  const killed: Part[] = ['ingest-1', 'projector-1', 'ingest-2', 'projector-2', 'admin']

  test(`kill -9 of our processes, ${KILLS} times under load, loses and duplicates nothing, and every fact is in its topic in order`, async () => {
    const running = load()
    const alarms = startAlarms({ urls: service.ingestUrls, key: service.key })
    for (let kill = 0; kill < KILLS; kill += 1) {
      await acknowledges(running, 20 + Math.floor(Math.random() * 200))
      const part = killed[kill % killed.length] as Part
      await service.end(part, 'SIGKILL')
      await service.start(part)
    }
    await running.stop()
    await alarms.stop()
    const outcome = await expectExactlyOnce(service, running, { withinMs: 120_000 })
    const { brokers } = service.kafka
    const facts = await expectAlarmsInTopic({ ...service, brokers }, alarms)
    noteFault('kill -9 of any of our processes', {
      kills: KILLS,
      ...outcome,
      ...facts,
    })
  })

  test(`kill -9 of the projectors, ${KILLS} times under load, and a rebuild: facts match the model, without duplicates`, async () => {
    const { ingestUrls: urls, key } = service
    const running = startLoad({ urls, key, concurrency: 8, pauseMs: 50, alarmEvery: 10 })
    let rebuild: RunningProgram | undefined
    for (let kill = 0; kill < KILLS; kill += 1) {
      await acknowledges(running, 20 + Math.floor(Math.random() * 200))
      const part = kill % 2 === 0 ? 'projector-1' : 'projector-2'
      await service.end(part, 'SIGKILL')
      if (kill === 1) rebuild = service.rebuild()
      await service.start(part)
    }
    expect({ code: await rebuild?.ended, output: rebuild?.output() }).toMatchObject({ code: 0 })
    await running.stop()
    const facts = await expectFactsOfModel(service, running, { withinMs: 120_000 })
    noteFault('facts under kill -9 of projectors, a rebuild meanwhile', {
      kills: KILLS,
      facts: facts.length,
    })
  })

  test(`Kafka away for ${AWAY_MS / 1000} s: no 200, 503 within 6 s, memory stays`, async () => {
    const running = load()
    await acknowledges(running, 300)
    await service.kafka.kill()
    await pause(6_000)
    const before = running.acknowledged.length
    const memory = memoryOf('ingest-1')
    await pause(AWAY_MS)
    const grown = memoryOf('ingest-1') - memory
    expect(running.acknowledged.length).toBe(before)
    await service.kafka.restart()
    await acknowledges(running, 50, 30_000)
    await running.stop()
    expectOnly503(running)
    const slowest = Math.max(...running.refused.map(({ afterMs }) => afterMs))
    expect(slowest).toBeLessThan(6_000)
    expect(grown).toBeLessThan(100)
    const outcome = await expectExactlyOnce(service, running, { withinMs: 120_000 })
    noteFault(`Kafka away for ${AWAY_MS / 1000} s`, {
      ...outcome,
      refused: running.refused.length,
      'slowest refusal ms': Math.round(slowest),
      'memory grown MB': grown.toFixed(1),
    })
  })

  test('MongoDB away: known keys still work, the projector catches up within 60 s', async () => {
    const running = load(3)
    await acknowledges(running, 100)
    await service.mongodb.kill()
    const before = running.refused.length
    await acknowledges(running, 300)
    await pause(SHORT ? 5_000 : 20_000)
    await running.stop()
    expect(running.refused.slice(before)).toEqual([])
    await service.mongodb.restart()
    const back = performance.now()
    const outcome = await expectExactlyOnce(service, running, { withinMs: 60_000 })
    const seconds = ((performance.now() - back) / 1000).toFixed(1)
    expect(await deadLetters()).toBe(0)
    noteFault('MongoDB away', { ...outcome, refused: 0, 'caught up after s': seconds })
  })

  test('SIGTERM under load and with a half-sent body: all requests get responses, exit 0 within 10 s', async () => {
    const running = load()
    await acknowledges(running, 200)
    const { hostname, port } = new URL(service.url('ingest-1'))
    const half = connect(Number(port), hostname)
    half.on('error', () => undefined)
    half.write(
      `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"deviceId"',
    )
    await acknowledges(running, 100)
    const stopping = performance.now()
    expect(await service.end('ingest-1', 'SIGTERM')).toBe(0)
    const seconds = (performance.now() - stopping) / 1000
    expect(seconds).toBeLessThan(10)
    expect(await service.end('projector-2', 'SIGTERM')).toBe(0)
    await service.start('ingest-1')
    await service.start('projector-2')
    await running.stop()
    half.destroy()
    const outcome = await expectExactlyOnce(service, running)
    noteFault('SIGTERM under load, a body half sent', {
      ...outcome,
      's to exit': seconds.toFixed(1),
    })
  })

  function expectOnly503(running: Load): void {
    const odd = running.refused.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)
    expect(odd).toEqual([])
  }

  async function deadLetters(): Promise<number> {
    const text = await (await fetch(`${service.url('projector-2')}/metrics`)).text()
    return Number(/^gps_dead_letters (\d+)$/m.exec(text)?.[1])
  }
})
