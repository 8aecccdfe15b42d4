import { expect } from '@jest/globals'
import { countChanges } from '../../../projector/projector.ts'
import { deviceStatus } from '../../../projector/device-status.ts'
import type { ProjectionBatch } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { describeWith } from '../../services/describe-with.ts'
import { positionReported, T0 } from '../../samples.ts'
import { batchOf, type PositionEntry } from '../../contracts/store-samples.ts'
import { mongoSuite } from './database.ts'

const retriable = { name: 'DependencyError', retriable: true }

await describeWith(['mongodb'], 'projecting into MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'two concurrent projectors of one partition count each record once',
    async ({ open, db, accountId, log }) => {
      const [one, other] = [await open(), await open()]
      for (let round = 1; round <= 15; round += 1) {
        const entries = Array.from({ length: 12 }, (_, n) =>
          log.append(positionReported({ accountId, deviceId: `tracker-${n % 3}` })),
        )
        await Promise.all([
          inChunks(one, entries, 4),
          inChunks(other, entries, 3),
          one.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]]))),
        ])
        expect(await counts(one, accountId)).toEqual([4 * round, 4 * round, 4 * round])
      }
      expect(await db.collection('positions_g1').countDocuments()).toBe(15 * 12)
    },
  )

  promise(
    'projectors of two partitions that share a device lose none of its reports',
    async ({ open, accountId, log }) => {
      const [one, other] = [await open(), await open()]
      for (let round = 1; round <= 15; round += 1) {
        await Promise.all([
          one.project(batchOf(log.append(positionReported({ accountId }), 0))),
          other.project(batchOf(log.append(positionReported({ accountId }), 1))),
        ])
        expect(await counts(one, accountId)).toEqual([2 * round])
      }
    },
  )

  promise(
    'a projector that dies between writing records and statuses leaves nothing uncounted',
    async ({ open, db, accountId, log }) => {
      const first = log.append(positionReported({ accountId }))
      const repeat = log.append(first.event)
      const last = log.append(positionReported({ accountId }))
      const batch = batchOf(first, repeat, last)
      const dies: ProjectionBatch['fold'] = () => {
        throw new Error('died')
      }
      const dead = await open()
      await expect(dead.project({ ...batch, fold: dies })).rejects.toThrow('died')
      expect(await db.collection('positions_g1').countDocuments()).toBe(2)
      expect(await counts(dead, accountId)).toEqual([])

      const next = await open()
      expect(countChanges(await next.project(batch))).toMatchObject({ stored: 2, repeated: 1 })
      expect(await counts(next, accountId)).toEqual([2])
      expect(countChanges(await next.project(batch))).toMatchObject({ stored: 0, repeated: 1 })
      expect(await counts(next, accountId)).toEqual([2])
    },
  )

  promise(
    'a batch whose records do not reach the server counts nothing',
    async ({ openBehindProxy, log }) => {
      const { store, proxy } = await openBehindProxy()
      const batch = batchOf(log.append(positionReported()))
      proxy.loseRequestsWith('positions_g1')
      await expect(store.project(batch)).rejects.toMatchObject(retriable)
      proxy.loseRequestsWith(undefined)
      expect(await counts(store, 'acc-1')).toEqual([])
      expect(countChanges(await store.project(batch))).toMatchObject({ stored: 1, repeated: 0 })
      expect(await counts(store, 'acc-1')).toEqual([1])
    },
  )

  promise(
    'a batch whose responses were lost is complete after redelivery',
    async ({ openBehindProxy, accountId, log }) => {
      const { store, proxy } = await openBehindProxy()
      const batch = () =>
        batchOf(
          log.append(positionReported({ accountId })),
          log.append(positionReported({ accountId })),
        )
      const whileRecordsAreWritten = batch()
      await proxy.become('deaf')
      await expect(store.project(whileRecordsAreWritten)).rejects.toMatchObject(retriable)
      await proxy.become('pass')
      await store.project(whileRecordsAreWritten)
      expect(await counts(store, accountId)).toEqual([2])

      const whileStatusesAreWritten = batch()
      let lost = Promise.resolve()
      const fold: ProjectionBatch['fold'] = (previous, entry) => {
        lost = proxy.become('deaf')
        return deviceStatus(previous, entry)
      }
      const broken = store.project({ ...whileStatusesAreWritten, fold })
      await expect(broken).rejects.toMatchObject(retriable)
      await lost
      await proxy.become('pass')
      expect(await counts(store, accountId)).toEqual([4])
      await store.project(whileStatusesAreWritten)
      expect(await counts(store, accountId)).toEqual([4])
    },
  )

  promise(
    'device ids that look like operators, paths or field names are plain ids',
    async ({ open, accountId, log }) => {
      const store = await open()
      const deviceIds = ['$ts', '$$NOW', 'a.b', '$set', '__proto__', 'applied', '{"$gt":""}']
      for (let round = 0; round < 3; round += 1) {
        const entries = deviceIds.map((deviceId) =>
          log.append(positionReported({ accountId, deviceId })),
        )
        await store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
      }
      for (const deviceId of deviceIds) {
        const device = await store.findDevice({ accountId, deviceId })
        expect(device?.status).toMatchObject({ deviceId, reportCount: 3 })
        const history = { accountId, deviceId, order: 'asc', limit: 10 } as const
        expect(await store.pagePositions(history)).toHaveLength(3)
        const settings = { name: deviceId, disabled: false }
        const change = { accountId, deviceId, name: deviceId, changedAt: T0 }
        expect(await store.changeDeviceSettings(change)).toEqual(settings)
      }
    },
  )

  promise(
    'applied offsets are stored for each partition, in any order of arrival',
    async ({ open, accountId, log }) => {
      const store = await open()
      for (const partition of [11, 2, 100, 0, 11, 2]) {
        await store.project(batchOf(log.append(positionReported({ accountId }), partition)))
      }
      const device = await store.findDevice({ accountId, deviceId: 'tracker-1' })
      expect(device?.status).toMatchObject({
        reportCount: 6,
        applied: { 0: 0, 2: 1, 11: 1, 100: 0 },
      })
    },
  )

  promise(
    'a record refused for any reason but its id is not mistaken for a repeat',
    async ({ open, db, accountId, log }) => {
      const store = await open()
      await db.collection('positions_g1').createIndex({ keyId: 1 }, { unique: true })
      const batch = batchOf(
        log.append(positionReported({ accountId })),
        log.append(positionReported({ accountId })),
      )
      await expect(store.project(batch)).rejects.toMatchObject({ name: 'DependencyError' })
      expect(await counts(store, accountId)).toEqual([])
    },
  )
})

async function inChunks(
  store: Store,
  entries: readonly PositionEntry[],
  size: number,
): Promise<void> {
  for (let start = 0; start < entries.length; start += size) {
    const chunk = entries.slice(start, start + size)
    await store.project(batchOf(...(chunk as [PositionEntry, ...PositionEntry[]])))
  }
}

async function counts(store: Store, accountId: string): Promise<number[]> {
  const devices = await store.pageDevices({ accountId, limit: 100 })
  return devices.map(({ status }) => status.reportCount)
}
