import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { openFactCollections } from '../../../store/mongo/fact-documents.ts'
import { KILLED_AT, makeDatabaseOf030 } from '../../fixtures/version-0.3.0/data-of-0.3.0.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from '../../store/mongo/database.ts'
import {
  continueLog,
  expectSubscriptions,
  expectWentOn,
  factsIn,
  holdingIn,
  holdingOf,
  inOrder,
} from './continued-log.ts'

await describeWith(['mongodb'], 'a MongoDB of version 0.3.0', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'with facts in outboxes: they are inserted and published with their ids, and shown as before',
    async ({ open, db }) => {
      const old = await makeDatabaseOf030(db)
      const store = await open()
      const published: DeviceFact[] = []
      await continueLog(store, { publish: (facts) => void published.push(...facts) }).project()
      expect(await factsIn(store)).toEqual(inOrder(old))
      expect(await holdingIn(store)).toEqual(holdingOf(old))
      const waiting = old.filter(
        ({ deviceId, decidedAt }) => /due|new/.test(deviceId) && decidedAt === KILLED_AT,
      )
      expect(waiting.length).toBeGreaterThan(5)
      expect(inOrder(published)).toEqual(inOrder(waiting))
      const { states } = openFactCollections(db)
      expect(await states.countDocuments({ outbox: { $exists: true } })).toBe(0)
    },
  )

  promise('keeps the progress of subscriptions', async ({ open, db }) => {
    await makeDatabaseOf030(db)
    await expectSubscriptions(await open())
  })

  promise('is judged on: each decision once, in sequences without gaps', async ({ open, db }) => {
    const old = await makeDatabaseOf030(db)
    const store = await open()
    await continueLog(store).goOn()
    await expectWentOn(store, old)
  })

  // That version cannot run here, so its states are written back in its format between this
  // version's batches.
  promise(
    'is judged alike while projectors of both versions write its states',
    async ({ open, db }) => {
      const old = await makeDatabaseOf030(db)
      const store = await open()
      await continueLog(store, { between: writesOf030(db) }).goOn()
      await expectWentOn(store, old)
    },
  )
})

const KNOWN = ['sequence', 'applied', 'due', 'last', 'liveness', 'alarms', 'definitions', 'erased']

/** That version preserves unknown fields. */
function writesOf030(db: Db): () => Promise<void> {
  const { states } = openFactCollections(db)
  let before = new Map<string, [string, unknown][]>()
  let made = 0
  return async () => {
    const next: typeof before = new Map()
    for (const { _id, state } of await states.find().toArray()) {
      const fields = Object.entries(JSON.parse(state) as Record<string, unknown>)
      const known = fields.filter(([name]) => KNOWN.includes(name))
      const others = before.get(_id) ?? []
      next.set(
        _id,
        fields.filter(([name]) => !KNOWN.includes(name)),
      )
      const written = JSON.stringify(Object.fromEntries([...known, ...others]))
      made += 1
      await states.updateOne({ _id }, { $set: { state: written, revision: `of-030-${made}` } })
    }
    before = next
  }
}
