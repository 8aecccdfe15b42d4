import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { eraseUnderLoad } from './erasure.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acknowledges, startLoad, type Load } from './load.ts'
import { noteFault } from './table.ts'

await describeWith(
  ['ownKafka', 'ownMongodb'],
  'changes of the back office under load',
  (services) => {
    let service: DistributedService

    beforeAll(async () => {
      service = await startDistributedService(services)
    }, 240_000)

    afterAll(() => service?.close(), 60_000)

    function load(concurrency: number, key = service.key): Load {
      return startLoad({ urls: service.ingestUrls, key, concurrency, pauseMs: 20 })
    }

    test('a revoked key is refused by every ingest API within 5 s', async () => {
      const victim = await service.createKey()
      const running = load(4, victim.key)
      await acknowledges(running, 100)
      await service.revokeKey(victim.id)
      const revoked = performance.now()
      await pause(5_000)
      const before = running.acknowledged.length
      await eventually(() => running.refused.length > 20)
      expect(running.acknowledged.length).toBe(before)
      await running.stop()
      expect(new Set(running.refused.map(({ status }) => status))).toEqual(new Set([401]))
      const outcome = await expectExactlyOnce(service, running)
      const seconds = ((performance.now() - revoked) / 1000).toFixed(1)
      noteFault('a key revoked under load', { ...outcome, 'watched for s': seconds })
    })

    test('a rotated key: the old secret opens it for the grace time and not after', async () => {
      const rotated = await service.createKey()
      const running = load(2, rotated.key)
      await acknowledges(running, 100)
      const graceSeconds = 8
      const since = performance.now()
      const { key: renewed } = await service.rotateKey(rotated.id, graceSeconds)
      await pause(since + graceSeconds * 1_000 - 1_500 - performance.now())
      expect(running.refused).toEqual([])
      await eventually(() => running.refused.length > 20)
      const seconds = ((performance.now() - since) / 1000).toFixed(1)
      const ended = running.acknowledged.length
      await eventually(() => running.refused.length > 100)
      expect(running.acknowledged.length).toBe(ended)
      await running.stop()
      expect(new Set(running.refused.map(({ status }) => status))).toEqual(new Set([401]))
      const anew = load(2, renewed)
      await acknowledges(anew, 100)
      await anew.stop()
      expect(anew.refused).toEqual([])
      const outcome = await expectExactlyOnce(service, running)
      noteFault('a key rotated under load', {
        ...outcome,
        'grace s': graceSeconds,
        'refused after s': seconds,
      })
    })

    test('a device erased under load, the projectors killed meanwhile, a rebuild after', async () => {
      const quiet = { deviceId: 'quiet', latitude: 1, longitude: 2 }
      const api = adminReader(service)
      await submit(quiet)
      await eventually(() => api.device('quiet'), { withinMs: 30_000 })
      const running = load(4)
      await acknowledges(running, 200)
      const deviceId = running.sent[0]?.deviceId ?? ''
      await service.end('projector-1', 'SIGKILL')
      await service.end('projector-2', 'SIGKILL')
      const erased = await eraseUnderLoad(service, running, deviceId)
      await service.eraseDevice('quiet')
      expect(await api.positionsIfAny('quiet')).toEqual([])
      await service.start('projector-1')
      await service.start('projector-2')
      await pause(2_000)
      await service.end('projector-1', 'SIGKILL')
      await acknowledges(running, 200)
      await running.stop()
      await service.start('projector-1')
      const { after, between } = await erased.expectOnlyWhatCameAfter()
      expect(await api.positionsIfAny('quiet')).toEqual([])

      const rebuild = service.rebuild()
      expect([await rebuild.ended, rebuild.output()]).toEqual([
        0,
        expect.stringContaining('They are equal.'),
      ])
      expect(await erased.expectOnlyWhatCameAfter()).toEqual({ after, between })
      expect(await api.positionsIfAny('quiet')).toEqual([])
      await submit(quiet)
      await eventually(async () => (await api.device('quiet')).reportCount === 1, {
        withinMs: 30_000,
      })
      noteFault('a device erased under load, projectors killed, rebuilt', {
        'erased records': erased.before,
        after,
        'on their way': between,
      })
    })

    async function submit(report: object): Promise<void> {
      const answer = await fetch(`${service.ingestUrls[0]}/api/v1/gps/submit`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(report),
      })
      expect(answer.status).toBe(200)
    }
  },
)
