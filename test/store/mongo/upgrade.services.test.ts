import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import { batchOf } from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from './database.ts'

await describeWith(['mongodb'], 'a database of version 0.2.0', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'keeps its devices, whose reports are counted on',
    async ({ open, db, accountId, log }) => {
      const first = log.append(positionReported({ accountId, deviceId: 'van', receivedAt: T0 }))
      await makeDatabaseOf020(db, first.event)
      const store = await open()
      const query = { accountId, deviceId: 'van' }
      const total = async () => (await store.countDevices({ accountId, now: T0 })).total
      expect(await store.findDevice(query)).toMatchObject({
        status: { reportCount: 1, lastSeenAt: T0 + 7, lastReceivedAt: T0 + 7, lastKeyId: '' },
      })
      await eventually(async () => (await total()) === 1)

      await store.project(batchOf(log.append(positionReported({ ...query, receivedAt: T0 + 9 }))))
      expect(await store.findDevice(query)).toMatchObject({
        status: { reportCount: 2, firstSeenAt: T0, lastReceivedAt: T0 + 9, lastKeyId: 'key-1' },
      })
    },
  )

  promise('gets the indexes of a new generation', async ({ open, db, accountId }) => {
    await makeDatabaseOf020(db, positionReported({ accountId }))
    const indexes = async (generation: number) =>
      (await db.collection(`device_status_g${generation}`).listIndexes().toArray())
        .map(({ name, key }) => `${String(name)}: ${JSON.stringify(key)}`)
        .sort()
    const store = await open()
    const rebuild = await store.beginRebuild()
    const made = await indexes(2)
    await rebuild?.end()
    await eventually(async () => (await indexes(1)).join() === made.join())
  })

  promise('expires devices by the time they were last seen', async ({ open, db, accountId }) => {
    await makeDatabaseOf020(db, positionReported({ accountId, deviceId: 'van', receivedAt: T0 }))
    const store = await open()
    const statuses = db.collection('device_status_g1')
    await eventually(async () => {
      await store.expire(T0 + 8)
      return (await statuses.countDocuments()) === 0
    })
  })
})

/** One device with one report, and a heartbeat seven milliseconds after it, as 0.2.0 stored them. */
async function makeDatabaseOf020(
  db: Db,
  { recordId, ...event }: ReturnType<typeof positionReported>,
): Promise<void> {
  const { accountId, deviceId, latitude, longitude } = event
  const [timestamp, receivedAt] = [new Date(event.timestamp), new Date(event.receivedAt)]
  const heardAt = new Date(event.receivedAt + 7)
  const meta = db.collection<{ _id: string }>('meta')
  await meta.insertMany([
    { _id: 'read-models', generation: 1, newest: 1 } as never,
    { _id: 'schema', version: 1 } as never,
  ])
  const positions = db.collection<{ _id: string }>('positions_g1')
  await positions.createIndex(
    { accountId: 1, deviceId: 1, timestamp: 1, _id: 1 },
    { name: 'device_history' },
  )
  await positions.insertOne({
    _id: `${accountId}/${recordId}`,
    ...event,
    ...{ timestamp, receivedAt, origin: { partition: 0, offset: 0 } },
  })
  const statuses = db.collection<{ _id: string }>('device_status_g1')
  await statuses.createIndexes([
    { name: 'device', key: { accountId: 1, deviceId: 1 } },
    { name: 'last_seen', key: { accountId: 1, lastSeenAt: 1, deviceId: 1 } },
    { name: 'seen', key: { lastSeenAt: 1 } },
    { name: 'erased_at', key: { erasedAt: 1 }, sparse: true },
    { name: 'removing', key: { removing: 1 }, sparse: true },
  ])
  await statuses.insertOne({
    ...{ _id: `${accountId}/${deviceId}`, accountId, deviceId, reportCount: 1 },
    ...{ firstSeenAt: receivedAt, lastSeenAt: heardAt, applied: { 0: 0 } },
    lastPosition: { recordId, latitude, longitude, timestamp, receivedAt },
    heartbeats: { 0: { offset: 0, receivedAt: heardAt } },
  } as never)
}
