import { afterAll, beforeAll, expect } from '@jest/globals'
import type { Db } from 'mongodb'
import { openReadModels } from '../../../store/mongo/collections.ts'
import { positionDocument } from '../../../store/mongo/position-documents.ts'
import { project } from '../../../store/mongo/read-models.ts'
import { removeErased } from '../../../store/mongo/remove-erased.ts'
import type { ReadModels } from '../../../store/read-models.ts'
import {
  allPositions,
  batchOf,
  deviceErased,
  everythingOf,
  LogOfOneSuite,
  newAccountId,
} from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite, silent } from './database.ts'
import { everyInterruption, interrupted } from './interrupted-collections.ts'

const RECORDS = 2_200
const WRITTEN_AT_ONCE = 500
const LOOK = { withinMs: 90_000, everyMs: 200 }

await describeWith(['ownMongodb'], 'removing erased data in MongoDB', ({ ownMongodb }) => {
  const service = { url: '', database: 'removing' }
  const { promise } = mongoSuite(service)
  let server: Awaited<ReturnType<typeof ownMongodb>> | undefined

  // A stand-in for MongoDB serves nobody else while it removes thousands of records.
  beforeAll(async () => {
    server = await ownMongodb()
    service.url = server.url
  })

  afterAll(() => server?.kill())

  promise('an erasure does not wait for the removal of a long history', async ({ open, db }) => {
    const store = await open()
    const { accountId, deviceId, log } = await longHistory(db, store, 1)
    const erasure = log.erase(deviceErased({ accountId }))
    const began = performance.now()
    await store.project(batchOf(erasure))
    const took = performance.now() - began

    const again = log.append(positionReported({ accountId }))
    await store.project(batchOf(again))
    expect(await store.findDevice({ accountId, deviceId })).toMatchObject({
      status: { reportCount: 1, firstSeenAt: again.event.receivedAt },
    })
    expect(await allPositions(store, accountId, deviceId)).toMatchObject([
      { recordId: again.event.recordId },
    ])
    await eventually(async () => (await storedIn(db, 1)) === 1, LOOK)
    await eventually(async () => (await markedIn(db, 1)) === 0)
    expect(took).toBeLessThan((performance.now() - began) / 4)
    expect(await everythingOf(store, accountId)).toMatchObject({
      statuses: [{ reportCount: 1 }],
      records: [{ recordId: again.event.recordId }],
    })
  })

  promise(
    'a removal interrupted by a stop continues when a projector starts',
    async ({ open, db }) => {
      const store = await open()
      const { accountId, log } = await longHistory(db, store, 1)
      await store.project(batchOf(log.erase(deviceErased({ accountId }))))
      await store.close()
      const left = await storedIn(db, 1)
      expect(left).toBeGreaterThan(0)
      expect(await markedIn(db, 1)).toBe(1)

      const next = await open()
      expect(await everythingOf(next, accountId)).toEqual({ statuses: [], records: [] })
      await next.openGeneration(1)
      await eventually(async () => (await storedIn(db, 1)) === 0, LOOK)
      await eventually(async () => (await markedIn(db, 1)) === 0)
    },
  )

  promise(
    'a switch to other read models delays no removal, in the new or the old ones',
    async ({ open, db }) => {
      const store = await open()
      const { accountId, log } = await longHistory(db, store, 1)
      const erasure = batchOf(log.erase(deviceErased({ accountId })))
      const rebuild = await store.beginRebuild()
      if (rebuild === undefined) throw new Error('another rebuild is in progress')
      const built = await store.openGeneration(rebuild.to)
      await longHistory(db, built, rebuild.to, accountId)
      await store.project(erasure)
      await built.project(erasure)
      await rebuild.switchOver()
      await rebuild.end()
      expect(await storedIn(db, rebuild.from)).toBe(0)
      expect(await everythingOf(store, accountId)).toEqual({ statuses: [], records: [] })
      await eventually(async () => (await storedIn(db, rebuild.to)) === 0, LOOK)
      await eventually(async () => (await markedIn(db, rebuild.to)) === 0)
    },
  )

  promise(
    'a device erased again during its removal also loses the records in between',
    async ({ db }) => {
      const readModels = openReadModels(db, 1)
      const calls = await everyInterruption(async (interrupt) => {
        const accountId = newAccountId()
        const log = new LogOfOneSuite()
        const report = () => log.append(positionReported({ accountId }))
        const erasure = () => log.erase(deviceErased({ accountId }))
        await project(readModels, batchOf(report(), erasure()), silent)
        const between = [batchOf(report()), batchOf(erasure(), report())]
        let isDone = false
        const eraseAgain = async () => {
          isDone = true
          for (const batch of between) await project(readModels, batch, silent)
        }
        await removeErased(interrupted(readModels, interrupt(eraseAgain)))
        if (!isDone) return
        // A report in between that finds the device while it is being unmarked.
        await project(readModels, batchOf(report()), silent)
        expect(await readModels.positions.countDocuments({ accountId })).toBe(2)
        expect(await readModels.deviceStatuses.findOne({ accountId })).toMatchObject({
          reportCount: 2,
        })
      })
      expect(calls).toBeGreaterThanOrEqual(4)
    },
  )

  promise(
    'a redelivered erasure looks for its records again',
    async ({ open, db, accountId, log }) => {
      const store = await open()
      const { positions, deviceStatuses } = openReadModels(db, 1)
      const report = log.append(positionReported({ accountId }))
      const erasing = batchOf(log.erase(deviceErased({ accountId })))
      await store.project(erasing)
      await eventually(async () => (await markedIn(db, 1)) === 0)
      await positions.insertOne(positionDocument(report))
      await store.project(erasing)
      await eventually(async () => (await positions.countDocuments()) === 0)
      expect(await deviceStatuses.countDocuments()).toBe(1)
    },
  )
})

/** A device with records enough for their removal to take seconds, and the log that they are from. */
async function longHistory(
  db: Db,
  readModels: Pick<ReadModels, 'project'>,
  generation: number,
  accountId = newAccountId(),
) {
  const log = new LogOfOneSuite()
  const { positions } = openReadModels(db, generation)
  const entries = Array.from({ length: RECORDS }, (_, n) =>
    log.append(positionReported({ accountId, timestamp: T0 + n })),
  )
  for (let n = 0; n < RECORDS; n += WRITTEN_AT_ONCE) {
    const documents = entries.slice(n, n + WRITTEN_AT_ONCE).map(positionDocument)
    await positions.insertMany(documents, { ordered: false })
  }
  const last = log.append(positionReported({ accountId }))
  await readModels.project(batchOf(last))
  return { accountId, deviceId: last.event.deviceId, log }
}

const storedIn = (db: Db, generation: number) =>
  openReadModels(db, generation).positions.countDocuments()

const markedIn = (db: Db, generation: number) =>
  openReadModels(db, generation).deviceStatuses.countDocuments({ removing: { $exists: true } })
