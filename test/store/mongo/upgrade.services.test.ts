import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import { ulid } from '../../../schemas/record-id.ts'
import type { DeviceStatusDocument } from '../../../store/mongo/collections.ts'
import type { Store } from '../../../store/store.ts'
import { batchOf } from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { deviceSeen, positionReported, T0 } from '../../samples.ts'
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

  promise(
    'keeps its index of histories, and shows records of one time in the order of the log',
    async ({ open, db, accountId, log }) => {
      const place = { accountId, deviceId: 'van', timestamp: T0 }
      const sent = [9, 8, 7, 6, 5].map((n) =>
        log.append(positionReported({ ...place, recordId: ulid(T0, Buffer.alloc(10, n)) })),
      )
      await makeDatabaseOf020(db, sent[0]!.event)
      const store = await open()
      const [, ...others] = sent
      await store.project(batchOf(others[0]!, ...others.slice(1)))
      const seen: PositionRecord[] = []
      for (let isMore = true; isMore;) {
        const after = seen.at(-1)
        const query = { accountId, deviceId: 'van', order: 'asc', limit: 2 } as const
        const page = await store.pagePositions({ ...query, ...(after && { after }) })
        seen.push(...page)
        isMore = page.length === 2
      }
      expect(seen.map(({ recordId }) => recordId)).toEqual(sent.map(({ event }) => event.recordId))
      const names = async (generation: number) =>
        (await db.collection(`positions_g${generation}`).listIndexes().toArray()).map(
          ({ name }) => name as string,
        )
      expect(await names(1)).toContain('device_history')
      expect(await names(1)).not.toContain('history')
      const rebuild = await store.beginRebuild()
      expect(await names(2)).toContain('history')
      await rebuild?.end()
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

  promise(
    'and one from before telemetry gives each device the key that it sent itself last',
    async ({ open, db, accountId, log }) => {
      const first = await open()
      const sent = (deviceId: string, minute: number, keyId: string) =>
        positionReported({ accountId, deviceId, keyId, receivedAt: T0 + minute * 60_000 })
      const history = (deviceId: string) =>
        ({ ...sent(deviceId, 90, 'key-import'), timestamp: T0, imported: true }) as const
      const heard = { accountId, deviceId: 'heard', keyId: 'key-seen', receivedAt: T0 + 3_000_000 }
      await first.project(
        batchOf(
          log.append(sent('live', 1, 'key-phone')),
          log.append(sent('imported', 1, 'key-phone')),
          log.append(history('imported')),
          log.append(sent('heard', 1, 'key-phone')),
          log.hear(deviceSeen(heard)),
          log.append(history('heard')),
          log.append(history('history')),
        ),
      )
      const statuses = db.collection<DeviceStatusDocument>('device_status_g1')
      const now = await keysOf(first, accountId)
      const others = await statuses.find({ accountId }).toArray()
      for (const { _id, deviceId, lastPosition } of others) {
        // The version before took the import for the newest thing that the device sent.
        const record = await db
          .collection('positions_g1')
          .findOne({ accountId, deviceId, imported: true })
        const lastReceivedId = record === null ? lastPosition?.recordId : record['_id']
        await statuses.updateOne(
          { _id },
          {
            $set: {
              lastReceivedId: String(lastReceivedId).replace(`${accountId}/`, ''),
              ...(record !== null && { lastKeyId: 'key-import' }),
            },
            $unset: { lastKeyAt: true, lastKeyEventId: true, readings: true },
          },
        )
      }
      const second = await open()
      await eventually(
        async () => (await statuses.countDocuments({ lastKeyAt: { $exists: false } })) === 0,
      )
      expect(await keysOf(second, accountId)).toEqual(now)
      expect(now.map(({ lastKeyId }) => lastKeyId)).toEqual([
        ...['key-seen', '', 'key-phone', 'key-phone'],
      ])
    },
  )

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

async function keysOf(store: Store, accountId: string) {
  const page = await store.pageDevices({ accountId, limit: 9 })
  return page.map(({ status: { deviceId, lastKeyId, lastKeyAt, lastKeyEventId } }) => ({
    deviceId,
    lastKeyId,
    lastKeyAt,
    lastKeyEventId,
  }))
}

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
  const positions = db.collection<{ _id: string; [field: string]: unknown }>('positions_g1')
  await positions.createIndex(
    { accountId: 1, deviceId: 1, timestamp: 1, _id: 1 },
    { name: 'device_history' },
  )
  await positions.insertOne({
    _id: `${accountId}/${recordId}`,
    ...event,
    timestamp,
    receivedAt,
    origin: { partition: 0, offset: 0 },
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
    _id: `${accountId}/${deviceId}`,
    accountId,
    deviceId,
    reportCount: 1,
    firstSeenAt: receivedAt,
    lastSeenAt: heardAt,
    applied: { 0: 0 },
    lastPosition: { recordId, latitude, longitude, timestamp, receivedAt },
    heartbeats: { 0: { offset: 0, receivedAt: heardAt } },
  } as never)
}
