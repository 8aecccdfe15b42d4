import { expect } from '@jest/globals'
import { pino } from 'pino'
import type { PositionEntry } from '../../../schemas/events/log-entry.ts'
import { openReadModels } from '../../../store/mongo/collections.ts'
import { checkpointOf } from '../../../store/mongo/checkpoints.ts'
import { project } from '../../../store/mongo/read-models.ts'
import { batchOf, deviceErased } from '../../contracts/store-samples.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from './database.ts'
import { interrupted } from './interrupted-collections.ts'

const logger = pino({ level: 'silent' })

await describeWith(['mongodb'], 'checkpoints in MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise('a checkpoint is written after everything else of its batch', async (given) => {
    const { open, db, log, accountId } = given
    await open()
    const readModels = openReadModels(db, 1)
    const report = () => log.append(positionReported({ accountId }))
    await project(readModels, batchOf(report()), logger)
    const found: unknown[] = []
    const watched = interrupted(readModels, async () => {
      found.push(await checkpointOf(readModels))
    })
    await project(
      watched,
      batchOf(report(), log.erase(deviceErased({ accountId })), report()),
      logger,
    )
    expect(found.length).toBeGreaterThan(3)
    expect(new Set(found.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"0":0}']))
    expect(await checkpointOf(readModels)).toEqual({ 0: 3 })
  })

  promise('of two projectors of a partition, the later one wins', async (given) => {
    const { open, log, accountId } = given
    const store = await open()
    const [late, early] = [await store.openGeneration(1), await store.openGeneration(1)]
    const entries = Array.from({ length: 20 }, () => log.append(positionReported({ accountId })))
    const take = async (projector: typeof late, size: number) => {
      for (let from = 0; from < entries.length; from += size) {
        const [first, ...others] = entries.slice(from, from + size) as [PositionEntry]
        await projector.project({ ...batchOf(first, ...others), after: from - 1 })
      }
    }
    await Promise.all([take(late, 3), take(early, 5)])
    expect(await store.checkpoint()).toEqual({ 0: 19 })
    const device = await store.findDevice({ accountId, deviceId: 'tracker-1' })
    expect(device?.status.reportCount).toBe(20)
  })

  promise('a partition without any event has a checkpoint', async (given) => {
    const { open, log } = given
    const generation = await (await open()).openGeneration(1)
    const { fold, foldVersion } = batchOf(log.append(positionReported()))
    await generation.project({ partition: 5, lastOffset: 8, entries: [], fold, foldVersion })
    expect(await generation.checkpoint()).toEqual({ 5: 8 })
    expect(await generation.lastApplied()).toEqual({})
  })
})
