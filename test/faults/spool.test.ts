import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acknowledges, startLoad, type Load } from './load.ts'
import { noteFault, SHORT } from './table.ts'

const AWAY_MS = SHORT ? 12_000 : 60_000
const KILLS = SHORT ? 2 : 6
const ANSWERED_WITHIN_MS = 6_000

await describeWith(['ownKafka', 'ownMongodb'], 'ingest APIs with a spool', (services) => {
  let service: DistributedService
  let spools: string
  let running: Load | undefined

  beforeAll(async () => {
    spools = await ownDirectory()
    service = await startDistributedService(services, {
      envOf: (part) => (part.startsWith('ingest') ? { SPOOL_DIR: `${spools}/${part}` } : {}),
    })
  })

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  afterAll(() => service?.close())

  function load(): Load {
    running = startLoad({ urls: service.ingestUrls, key: service.key, concurrency: 8, pauseMs: 80 })
    return running
  }

  async function waiting(part: 'ingest-1' | 'ingest-2'): Promise<number> {
    const text = await (await fetch(`${service.url(part)}/metrics`)).text()
    return Number(/^gps_spool_events (\d+)$/m.exec(text)?.[1])
  }

  async function drained(): Promise<number> {
    const from = performance.now()
    for (const part of ['ingest-1', 'ingest-2'] as const) {
      await eventually(async () => (await waiting(part)) === 0, {
        withinMs: 60_000,
        everyMs: 200,
      })
    }
    return (performance.now() - from) / 1000
  }

  test.each([
    ['hangs', async () => service.kafkaLine.freeze(), async () => service.kafkaLine.thaw()],
    ['is killed', () => service.kafka.kill(), () => service.kafka.restart()],
  ])(
    'Kafka %s: every later report gets 200 within 6 s and is stored once',
    async (fault, go, comeBack) => {
      const sending = load()
      await acknowledges(sending, 200)
      const underWay = sending.sent.length
      await go()
      await pause(AWAY_MS)
      expect(sending.acknowledged.length).toBeGreaterThan(underWay)
      expect((await fetch(`${service.url('ingest-1')}/readyz`)).status).toBe(200)
      expect(await waiting('ingest-1')).toBeGreaterThan(0)
      await comeBack()
      const seconds = await drained()
      await acknowledges(sending, 100)
      await sending.stop()
      // Only requests in flight when Kafka went away may have failed.
      expect(sending.refused.filter(({ status }) => status !== 503)).toEqual([])
      expect(sending.refused.length).toBeLessThanOrEqual(8)
      expect(sending.slowestMs()).toBeLessThan(ANSWERED_WITHIN_MS)
      const outcome = await expectExactlyOnce(service, sending, { withinMs: 120_000 })
      noteFault(`Kafka ${fault}, with a spool`, {
        ...outcome,
        refused: sending.refused.length,
        'slowest response ms': Math.round(sending.slowestMs()),
        'drained after s': seconds.toFixed(1),
      })
    },
  )

  test(`nothing acknowledged is lost over kill -9 of an ingest API while Kafka is away, ${KILLS} times`, async () => {
    const sending = load()
    await acknowledges(sending, 100)
    await service.kafka.kill()
    for (let kill = 0; kill < KILLS; kill += 1) {
      await acknowledges(sending, 50 + Math.floor(Math.random() * 200))
      await service.end('ingest-1', 'SIGKILL')
      await service.start('ingest-1')
    }
    const before = await waiting('ingest-1')
    expect(before).toBeGreaterThan(0)
    await service.kafka.restart()
    // While it is being drained.
    await eventually(async () => (await waiting('ingest-1')) < before)
    await service.end('ingest-1', 'SIGKILL')
    await service.start('ingest-1')
    await drained()
    await sending.stop()
    const outcome = await expectExactlyOnce(service, sending, { withinMs: 120_000 })
    noteFault('kill -9 of an ingest API with a filled spool', { kills: KILLS + 1, ...outcome })
  })

  test('none of a device’s reports that wait in the spool come back after its erasure', async () => {
    const deviceId = 'erased-meanwhile'
    const api = adminReader(service)
    const sent = [await submit({ deviceId, latitude: 0, longitude: 0 })]
    await eventually(() => api.device(deviceId), { withinMs: 60_000 })
    service.kafkaLine.freeze()
    for (let n = 1; n < 6; n += 1) sent.push(await submit({ deviceId, latitude: n, longitude: n }))
    expect(await waiting('ingest-1')).toBe(5)
    await service.end('ingest-1', 'SIGKILL')
    service.kafkaLine.thaw()
    await eventually(() => service.eraseDevice(deviceId).then(() => true), { withinMs: 60_000 })

    await service.start('ingest-1')
    await drained()
    const later = await submit({ deviceId, latitude: 9, longitude: 9 })
    // In the log it follows all events that waited.
    await eventually(() => api.device(deviceId), { withinMs: 60_000 })
    expect(await api.device(deviceId)).toMatchObject({ reportCount: 1 })
    const positions = await api.positions(deviceId)
    expect(positions.map(({ recordId }) => recordId)).toEqual([later])
    for (const recordId of sent) expect(await api.positionIfAny(recordId)).toBeUndefined()
    noteFault('a device erased with reports in the spool', {
      waited: 5,
      'come back': 0,
    })
  })

  async function submit(report: object): Promise<string> {
    const answer = await submitTo(service.url('ingest-1'), service.key, report)
    expect(answer).toMatchObject({ status: 200 })
    return answer.recordId ?? ''
  }
})
