import { join } from 'node:path'
import { expect } from '@jest/globals'
import type { Db, Document } from 'mongodb'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'
import { describeWith } from '../services/describe-with.ts'
import { mongoSuite } from '../store/mongo/database.ts'

const logger = createLogger({ level: 'silent', name: 'test' })

await describeWith(['mongodb'], 'a projector whose read models are replaced', ({ mongodb }) => {
  const directory = directoryForEachTest()
  const { promise } = mongoSuite(mongodb)

  promise('while it waits for reports, projects again what they lack', async (given) => {
    const { open, db, accountId } = given
    const store = await open()
    const clock = { now: () => T0 }
    const eventLog = openSqliteEventLog({ file: join(directory(), 'log.sqlite'), clock })
    const report = (count: number) =>
      eventLog.append(Array.from({ length: count }, () => positionReported({ accountId })))
    const counted = async () =>
      (await store.findDevice({ accountId, deviceId: 'tracker-1' }))?.status.reportCount
    const stop = new AbortController()
    const { signal } = stop
    const projecting = projectInUse({ eventLog, store, metrics: createMetrics(), logger, signal })
    try {
      await report(5)
      await eventually(async () => (await store.checkpoint())[0] === 5)
      const copy = await copyOf(db)
      await report(5)
      await eventually(async () => (await store.checkpoint())[0] === 10)
      expect(await counted()).toBe(10)

      await putBack(db, copy)
      expect(await counted()).toBe(5)
      await eventually(async () => (await counted()) === 10)
      await report(1)
      await eventually(async () => (await counted()) === 11)
    } finally {
      stop.abort()
      await projecting
      await eventLog.close()
    }
  })
})

const READ_MODELS = ['positions_g1', 'device_status_g1', 'applied_g1']

async function copyOf(db: Db): Promise<Map<string, Document[]>> {
  const copy = new Map<string, Document[]>()
  for (const name of READ_MODELS) copy.set(name, await db.collection(name).find().toArray())
  return copy
}

async function putBack(db: Db, copy: ReadonlyMap<string, Document[]>): Promise<void> {
  for (const [name, documents] of copy) {
    await db.collection(name).deleteMany({})
    await db.collection(name).insertMany(documents)
  }
}
