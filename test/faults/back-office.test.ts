import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { eraseUnderLoad } from './erasure.ts'
import { acknowledges, startLoad } from './load.ts'
import { noteFault } from './table.ts'

await describeWith(
  ['ownKafka', 'ownMongodb'],
  'changes of the back office under load',
  (services) => {
    let service: DistributedService

    beforeAll(async () => {
      service = await startDistributedService(services)
    })

    afterAll(() => service?.close(), 60_000)

    test('a device is erased under load while projectors are killed, then a rebuild runs', async () => {
      const quiet = { deviceId: 'quiet', latitude: 1, longitude: 2 }
      const api = adminReader(service)
      await submit(quiet)
      await eventually(() => api.device('quiet'), { withinMs: 30_000 })
      const { ingestUrls: urls, key } = service
      const running = startLoad({ urls, key, concurrency: 4, pauseMs: 20 })
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
      const [ingestUrl = ''] = service.ingestUrls
      expect((await submitTo(ingestUrl, service.key, report)).status).toBe(200)
    }
  },
)
