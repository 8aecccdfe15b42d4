import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import { countChanges } from '../../../projector/projector.ts'
import { batchOf, deviceErased } from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite, type OnADatabase } from './database.ts'

const LEASE_MS = 30_000

await describeWith(['mongodb'], 'generations in MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'a rebuild that was silent for too long can no longer switch, and notices that',
    async ({ open, db, log }) => {
      let now = T0
      const clock = { now: () => now }
      const store = await open({ clock })
      const silent = await store.beginRebuild()
      now += LEASE_MS - 1
      expect(await store.beginRebuild()).toBeUndefined()
      now += 1
      const next = await store.beginRebuild()
      expect(next).toMatchObject({ from: 1, to: 3 })

      await expect(silent?.switchOver()).rejects.toMatchObject({ retriable: false })
      await eventually(() => silent?.lost.aborted)
      await expect(store.openGeneration(2)).rejects.toThrow(
        'generation 2 of the read models has been removed',
      )
      await silent?.end()
      expect(await store.beginRebuild()).toBeUndefined()

      const built = await store.openGeneration(3)
      const entry = log.append(positionReported())
      expect(countChanges(await built.project(batchOf(entry)))).toMatchObject({ stored: 1 })
      await next?.switchOver()
      await next?.end()
      expect(await store.currentGeneration()).toBe(3)
      expect(await documents(db, 'positions_g3')).toBe(1)
    },
  )

  promise('readers follow a switch within two seconds', async ({ open, log }) => {
    const [store, reader] = [await open(), await open()]
    const entry = log.append(positionReported())
    const query = { accountId: entry.event.accountId, recordId: entry.event.recordId }
    expect(await reader.findPosition(query)).toBeUndefined()
    const rebuild = await store.beginRebuild()
    const built = await store.openGeneration(2)
    await built.project(batchOf(entry))
    await rebuild?.switchOver()
    await eventually(() => reader.findPosition(query), { withinMs: 2_000 })
    await rebuild?.end()
  })

  promise('a removed generation can no longer be written to', async ({ open, db, log }) => {
    const store = await open()
    const slow = await store.openGeneration(1)
    await slow.project(batchOf(log.append(positionReported())))
    const rebuild = await store.beginRebuild()
    await rebuild?.switchOver()
    await rebuild?.end()
    for (const name of ['positions_g1', 'device_status_g1']) {
      expect(await documents(db, name)).toBe(0)
    }
    await expect(
      slow.project(batchOf(log.append(positionReported({ deviceId: 'tracker-2' })))),
    ).rejects.toMatchObject({ name: 'DependencyError' })
    for (const name of ['positions_g1', 'device_status_g1']) {
      expect(await documents(db, name)).toBe(0)
    }
  })

  promise(
    'an abandoned switch arriving late does not activate a removed generation',
    async ({ db, ...given }) => {
      const { store, proxy, rebuild } = await rebuilding(given)
      proxy.holdRequestsWith(SWITCH)
      await expect(rebuild?.switchOver()).rejects.toMatchObject({ retriable: true })
      await rebuild?.end()
      await proxy.release()

      expect(await store.currentGeneration()).toBe(1)
      expect(await documents(db, 'positions_g1')).toBe(1)
      const next = await store.beginRebuild()
      expect(next).toMatchObject({ from: 1, to: 3 })
      await next?.end()
    },
  )

  promise('a switch whose response was lost counts as done', async ({ db, ...given }) => {
    const { store, proxy, rebuild } = await rebuilding(given)
    proxy.holdRequestsWith(SWITCH)
    const switched = rebuild?.switchOver()
    await eventually(() => proxy.holds())
    await proxy.release()
    await switched
    await rebuild?.end()
    expect(await store.currentGeneration()).toBe(2)
    expect(await documents(db, 'positions_g2')).toBe(1)
  })

  promise(
    'a rebuild that has switched completes even if the server is briefly lost',
    async ({ db, ...given }) => {
      const { store, proxy, rebuild } = await rebuilding(given)
      await rebuild?.switchOver()
      let lost = 0
      proxy.watch((bytes) => {
        if (bytes.includes('building')) lost += 1
        // The driver itself repeats some writes once.
        if (lost > 3) proxy.loseRequestsWith(undefined)
      })
      proxy.loseRequestsWith('building')
      await rebuild?.end()
      expect(lost).toBeGreaterThan(3)
      expect(await store.currentGeneration()).toBe(2)
      expect(await documents(db, 'positions_g1')).toBe(0)
    },
  )

  promise(
    'an erasure that the log no longer contains hides nothing in the next generation',
    async ({ open, log }) => {
      const store = await open()
      const event = deviceErased()
      await store.hideErased(event)
      const erasure = log.erase(event)
      const after = log.append(positionReported())
      await store.project(batchOf(erasure, after))
      const rebuild = await store.beginRebuild()
      await rebuild?.settleErasures()
      const built = await store.openGeneration(rebuild?.to ?? 0)
      await built.project(batchOf(after))
      await rebuild?.switchOver()
      await rebuild?.end()
      const next = await open()
      const { accountId, deviceId } = after.event
      expect(await next.findDevice({ accountId, deviceId })).toMatchObject({
        status: { reportCount: 1 },
      })
    },
  )

  promise(
    'records of a new generation expire like those of the previous one',
    async ({ open, db }) => {
      const store = await open({ retention: { wanted: 3 } })
      const rebuild = await store.beginRebuild()
      const indexes = await db.collection('positions_g2').listIndexes().toArray()
      const seconds = indexes.map(
        (index: { expireAfterSeconds?: number }) => index.expireAfterSeconds,
      )
      expect(seconds).toContain(3 * 86_400)
      await rebuild?.end()
    },
  )
})

/** A rebuild, behind a proxy, whose read models equal the current ones. */
async function rebuilding({ openBehindProxy, log }: Pick<OnADatabase, 'openBehindProxy' | 'log'>) {
  const { store, proxy } = await openBehindProxy()
  const entry = log.append(positionReported())
  await store.project(batchOf(entry))
  const rebuild = await store.beginRebuild()
  const built = await store.openGeneration(2)
  await built.project(batchOf(entry))
  return { store, proxy, rebuild }
}

/** Bytes that only the request to activate a generation contains. */
const SWITCH = '$set\0\x15\0\0\0\x10generation\0'

function documents(db: Db, name: string): Promise<number> {
  return db.collection(name).countDocuments()
}
