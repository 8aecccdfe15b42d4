import { expect } from '@jest/globals'
import { countChanges } from '../../../projector/projector.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import { openReadModels } from '../../../store/mongo/collections.ts'
import {
  allPositions,
  batchOf,
  deviceErased,
  everythingOf,
  newAccountId,
} from '../../contracts/store-samples.ts'
import { positionReported, T0 } from '../../samples.ts'
import { eventually } from '../../eventually.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from './database.ts'

const deviceId = 'tracker-1'

const DAY_MS = 24 * 60 * 60 * 1_000

await describeWith(['mongodb'], 'erasing in MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'a late record whose writer died is never seen, and does not block its repeat',
    async ({ open, db, accountId, log }) => {
      const store = await open()
      const { positions } = openReadModels(db, 1)
      const lost = log.append(positionReported({ accountId }))
      await store.project(batchOf(lost))
      const document = await positions.findOne({ accountId })
      await store.project(batchOf(log.erase(deviceErased({ accountId }))))
      await eventually(async () => (await positions.countDocuments()) === 0)
      if (document !== null) await positions.insertOne(document)

      const nothing = { statuses: [], records: [] }
      expect(await everythingOf(store, accountId)).toEqual(nothing)
      const { recordId } = lost.event
      expect(await allPositions(store, accountId, deviceId)).toEqual([])
      expect(await store.findPosition({ accountId, recordId })).toBeUndefined()
      const generation = await store.openGeneration(1)
      for await (const chunk of generation.scanRecords({ accountId })) expect(chunk).toEqual([])

      const repeat = log.append(lost.event)
      expect(countChanges(await store.project(batchOf(repeat)))).toMatchObject({
        stored: 1,
        repeated: 0,
      })
      expect(await store.findPosition({ accountId, recordId })).toMatchObject(repeat.event)
      expect((await everythingOf(store, accountId)).records).toEqual([
        { ...repeat.event, origin: repeat.origin },
      ])
      expect(countChanges(await store.project(batchOf(log.append(lost.event))))).toMatchObject({
        stored: 0,
        repeated: 1,
      })
    },
  )

  promise(
    'a device that restarts in another partition keeps its applied offsets',
    async ({ open, accountId, log }) => {
      const store = await open()
      const before = log.append(positionReported({ accountId }))
      const event = deviceErased({ accountId, erasedAt: T0 + 5_000 })
      await store.project(batchOf(before, log.erase(event)))
      await store.project(
        batchOf(log.append(positionReported({ accountId, receivedAt: T0 + 9_000 }), 7)),
      )
      const device = await store.findDevice({ accountId, deviceId })
      expect(device?.status).toMatchObject({ reportCount: 1, applied: { 0: 1, 7: 0 } })
    },
  )

  promise(
    'two projectors that erase and report one device concurrently agree',
    async ({ open, log }) => {
      const [one, other] = [await open(), await open()]
      for (let round = 0; round < 10; round += 1) {
        const accountId = newAccountId()
        const late = { accountId, receivedAt: T0 + 9_000 }
        const event = deviceErased({ accountId, erasedAt: T0 + 5_000 })
        const [before, erasure] = [
          log.append(positionReported({ accountId, receivedAt: T0 })),
          log.erase(event),
        ]
        const after = log.append(positionReported(late))
        await Promise.all([
          one.project(batchOf(before, erasure, after)),
          other.project(batchOf(log.append(positionReported(late), 1))),
          other.project(
            batchOf(log.append(positionReported({ accountId, receivedAt: T0 + 5_000 }), 2)),
          ),
        ])
        const { statuses, records } = await everythingOf(one, accountId)
        expect(statuses.map(({ reportCount }) => reportCount)).toEqual([2])
        expect(records).toHaveLength(2)
      }
    },
  )

  promise(
    'a device that reports after many erasures is not hidden again',
    async ({ open, db, accountId, log }) => {
      const store = await open()
      const events = Array.from({ length: 30 }, (_, n) =>
        deviceErased({ accountId, erasedAt: T0 + n }),
      )
      for (const event of events) await store.hideErased(event)
      const entries = events.map((event) => log.erase(event))
      await store.project(
        batchOf(...(entries as [ProjectionEntry]), log.append(positionReported({ accountId }))),
      )
      expect(await store.findDevice({ accountId, deviceId })).toBeDefined()
      await store.hideErased(events[0] ?? deviceErased())
      expect(await db.collection('hidden_devices').countDocuments()).toBe(0)
      expect(await store.findDevice({ accountId, deviceId })).toBeDefined()
    },
  )

  promise(
    'the remains of an erased device are removed two days after records expire',
    async ({ open, db, log }) => {
      const store = await open()
      const erased = (name: string, erasedAt: number) =>
        log.erase(deviceErased({ deviceId: name, erasedAt }))
      const reported = (name: string, receivedAt: number) =>
        log.append(positionReported({ deviceId: name, receivedAt }))
      await store.project(
        batchOf(
          erased('old', T0),
          erased('young', T0 + 2_000),
          erased('silent', T0 + 2_000),
          reported('silent', T0),
          erased('lively', T0),
          reported('lively', T0 + 3 * DAY_MS),
        ),
      )
      await store.expire(T0 + 2 * DAY_MS + 1_000)
      const left = await db
        .collection('device_status_g1')
        .find()
        .project({ _id: 0, deviceId: 1, isErased: { $ne: [{ $type: '$erased' }, 'missing'] } })
        .sort({ deviceId: 1 })
        .toArray()
      expect(left).toEqual([
        { deviceId: 'lively', isErased: false },
        { deviceId: 'silent', isErased: true },
        { deviceId: 'young', isErased: true },
      ])
      const devices = await store.pageDevices({ accountId: 'acc-1', limit: 9 })
      expect(devices.map(({ status }) => status.deviceId)).toEqual(['lively'])
    },
  )
})
