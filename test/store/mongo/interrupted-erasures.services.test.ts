import { expect } from '@jest/globals'
import { deviceStatus } from '../../../projector/device-status.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import type { ProjectionBatch } from '../../../store/read-models.ts'
import { openReadModels, type ReadModelCollections } from '../../../store/mongo/collections.ts'
import { project } from '../../../store/mongo/read-models.ts'
import { removeErased } from '../../../store/mongo/remove-erased.ts'
import {
  batchOf,
  canonical,
  deviceErased,
  everythingOf,
  LogOfOneSuite,
  newAccountId,
} from '../../contracts/store-samples.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { everyInterruption, interrupted } from './interrupted-collections.ts'
import { silent, mongoSuite } from './database.ts'

await describeWith(['mongodb'], 'an interrupted erasing projector', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'an erasing projector running between two calls of one that lost its partition restores nothing',
    async ({ open, db }) => {
      const store = await open()
      const readModels = openReadModels(db, 1)
      const calls = await everyInterruption(async (interrupt) => {
        const { accountId, lost, erasing, wanted } = story()
        let isDone = false
        const erase = async () => {
          isDone = true
          await deliver(readModels, erasing)
        }
        await deliver(interrupted(readModels, interrupt(erase)), lost)
        if (!isDone) await erase()
        expect(await everythingOf(store, accountId)).toEqual(wanted)
        expect(await storedOf(readModels, accountId)).toBe(wanted.records.length)
      })
      expect(calls).toBeGreaterThan(1)
    },
  )

  promise(
    'a projector that lost its partition, running between two calls of an erasing one, restores nothing',
    async ({ open, db }) => {
      const store = await open()
      const readModels = openReadModels(db, 1)
      const calls = await everyInterruption(async (interrupt) => {
        const { accountId, lost, erasing, wanted } = story()
        const eraser = interrupted(
          readModels,
          interrupt(() => deliver(readModels, lost)),
        )
        await deliver(eraser, erasing)
        expect(await everythingOf(store, accountId)).toEqual(wanted)
        expect(await storedOf(readModels, accountId)).toBe(wanted.records.length)
      })
      expect(calls).toBeGreaterThanOrEqual(7)
    },
  )

  promise(
    'an erasure whose projector dies at any call is complete once delivered again',
    async ({ open, db }) => {
      const store = await open()
      const readModels = openReadModels(db, 1)
      const calls = await everyInterruption(async (interrupt) => {
        const { accountId, lost, erasing, wanted } = story()
        await deliver(readModels, lost)
        const dead = interrupted(
          readModels,
          interrupt(() => Promise.reject(new Error('died'))),
        )
        await carryOut(dead, erasing).catch((error: unknown) => {
          expect(error).toMatchObject({ message: 'died' })
        })
        await deliver(readModels, erasing)
        expect(await everythingOf(store, accountId)).toEqual(wanted)
        expect(await storedOf(readModels, accountId)).toBe(wanted.records.length)
        await deliver(readModels, erasing)
        expect(await everythingOf(store, accountId)).toEqual(wanted)
      })
      expect(calls).toBeGreaterThanOrEqual(7)
    },
  )
})

/** A device's reports before its erasure, and the batch with the erasure and later reports. */
function story() {
  const accountId = newAccountId()
  const log = new LogOfOneSuite()
  const entry = () => log.append(positionReported({ accountId }))
  const before = [entry(), entry()] as const
  const erasure = log.erase(deviceErased({ accountId }))
  // A repeat of an erased report, and a new one.
  const repeat = log.append(before[1].event)
  const after = entry()
  const records = [repeat, after].map(({ event, origin }) => ({ ...event, origin }))
  const status = canonical(deviceStatus(deviceStatus(undefined, repeat), after))
  return {
    accountId,
    lost: batchOf(...before),
    erasing: batchOf(before[1], erasure, repeat, after),
    wanted: { statuses: [status], records },
  }
}

/** Like the log: redelivers a batch that could not be stored for now. */
async function deliver(readModels: ReadModelCollections, batch: ProjectionBatch): Promise<void> {
  for (;;) {
    try {
      await carryOut(readModels, batch)
      return
    } catch (error) {
      if (!(error instanceof DependencyError) || !error.retriable) throw error
    }
  }
}

async function carryOut(readModels: ReadModelCollections, batch: ProjectionBatch): Promise<void> {
  await project(readModels, batch, silent)
  await removeErased(readModels)
}

async function storedOf({ positions }: ReadModelCollections, accountId: string): Promise<number> {
  return positions.countDocuments({ accountId })
}
