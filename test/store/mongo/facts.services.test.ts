import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import { factId, type DeviceFact } from '../../../schemas/facts/facts.ts'
import type { JudgeDevice } from '../../../store/facts.ts'
import { openFactCollections } from '../../../store/mongo/fact-documents.ts'
import { factWrites } from '../../../store/mongo/judge-facts.ts'
import type { ErasureEntry } from '../../../store/read-models.ts'
import { deviceErased, newAccountId } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { interruptedCollection } from './interrupted-collections.ts'
import { mongoSuite } from './database.ts'

const MINUTE = 60_000
const clock = { now: () => T0 }

await describeWith(['mongodb'], 'interrupted judging', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'a process killed between any two calls neither loses nor duplicates facts: the next one completes it',
    async ({ open, db }) => {
      const store = await open()
      const calls = await everyDeath(async (dies) => {
        const device = { accountId: newAccountId(), deviceId: 'van' }
        const facts = [fact(device, 1), fact(device, 2)]
        const published: DeviceFact[] = []
        const publish = async (sent: readonly DeviceFact[]) => void published.push(...sent)
        const batch = (offset: number) => ({ devices: [deciding(device, offset, facts)], publish })
        await process(db).judgeFacts(batch(1))
        await process(db, dies).judgeFacts(batch(2)).catch(ignoreDeath)
        await process(db).judgeFacts(batch(2))
        const read = await store.pageFacts({ accountId: device.accountId, limit: 9 })
        expect(read).toEqual([...facts].reverse())
        expect(new Set(published.map(({ id }) => id))).toEqual(new Set(facts.map(({ id }) => id)))
        const { states } = openFactCollections(db)
        const found = await states.find({ accountId: device.accountId }).toArray()
        expect(found).toEqual([expect.not.objectContaining({ outbox: expect.anything() })])
      })
      expect(calls).toBeGreaterThanOrEqual(4)
    },
  )

  promise(
    'facts inserted after an erasure are never read, whatever step their process was at, and wherever it then dies',
    async ({ open, db }) => {
      const store = await open()
      let late = 0
      for (let erased = 1, calls = erased; erased <= calls; erased += 1) {
        calls = await everyDeath(async (dies) => {
          const device = { accountId: newAccountId(), deviceId: 'van' }
          const facts = [fact(device, 1), fact(device, 2)]
          const event = deviceErased({ ...device, erasedAt: T0 })
          const erasure: ErasureEntry = {
            kind: 'erasure',
            origin: { partition: 0, offset: 3 },
            event,
          }
          await process(db).judgeFacts({ devices: [deciding(device, 1, facts)] })
          let call = 0
          const interrupted = process(db, async () => {
            call += 1
            if (call === erased) await process(db).eraseFacts(erasure)
            await dies()
          })
          await interrupted.judgeFacts({ devices: [deciding(device, 2, facts)] }).catch(ignoreDeath)
          if (call < erased) await process(db).eraseFacts(erasure)
          const { accountId } = device
          expect(await store.pageFacts({ accountId, limit: 9 })).toEqual([])
          expect(await store.heldFacts({ accountId, facts })).toEqual(new Set())
          const stored = openFactCollections(db).facts
          late += await stored.countDocuments({ accountId })
          await sweep(db)
          expect(await stored.countDocuments({ accountId })).toBe(0)
        }, erased)
      }
      // Otherwise this shows nothing.
      expect(late).toBeGreaterThan(0)
    },
  )

  promise('a state changed by another process is judged in its current form', async ({ db }) => {
    const device = { accountId: newAccountId(), deviceId: 'van' }
    const facts = [fact(device, 1), fact(device, 2)]
    const first = process(db)
    await first.judgeFacts({ devices: [deciding(device, 1, facts)] })
    await process(db).judgeFacts({ devices: [deciding(device, 2, facts)] })
    let judged: FactState | undefined
    await first.judgeFacts({
      devices: [{ ...device, judge: (before) => void (judged = before) }],
    })
    expect(judged).toEqual({ sequence: 2, applied: { 0: 2 }, due: null })
  })

  promise('a page is full even if it skips facts of an earlier life', async ({ open, db }) => {
    const store = await open()
    const accountId = newAccountId()
    const [van, tug] = [
      { accountId, deviceId: 'van' },
      { accountId, deviceId: 'tug' },
    ]
    const facts = [1, 2, 3].map((n) => fact(van, n))
    for (const [n] of facts.entries()) {
      await process(db).judgeFacts({ devices: [deciding(van, n + 1, facts)] })
    }
    await process(db).judgeFacts({ devices: [deciding(tug, 1, [fact(tug, 1, 2.5)])] })
    await openFactCollections(db).facts.updateOne(
      { accountId, at: T0 + 2 },
      { $set: { life: 'x' } },
    )
    const page = await store.pageFacts({ accountId, limit: 2 })
    expect(page.map(({ deviceId, at }) => [deviceId, at - T0])).toEqual([
      ['van', 3],
      ['tug', 2.5],
    ])
    const next = await store.pageFacts({ accountId, limit: 2, after: page[1]! })
    expect(next.map(({ at }) => at - T0)).toEqual([1])
  })
})

class Killed extends Error {}

function ignoreDeath(error: unknown): void {
  if (!(error instanceof Killed)) throw error
}

/** Runs a story once for each call, killing the process before it, and once without a kill. Returns the number of calls. */
async function everyDeath(
  run: (dies: () => Promise<void>) => Promise<void>,
  from = 1,
): Promise<number> {
  for (let death = from; ; death += 1) {
    let calls = 0
    await run(async () => {
      calls += 1
      if (calls >= death) throw new Killed()
    })
    if (calls < death) return calls
  }
}

function process(
  db: Db,
  beforeCall: () => Promise<void> = async () => undefined,
  now: () => number = clock.now,
) {
  const { states, facts, progress } = openFactCollections(db)
  const collections = {
    states: interruptedCollection(states, beforeCall),
    facts: interruptedCollection(facts, beforeCall),
    progress: interruptedCollection(progress, beforeCall),
  }
  return factWrites({ collections, clock: { now } })
}

async function sweep(db: Db): Promise<void> {
  const aMinuteLater = process(db, undefined, () => T0 + MINUTE)
  const dueNow = () => aMinuteLater.dueDevices({ now: T0 + MINUTE, limit: 99, partition: 0 })
  const due = await dueNow()
  await aMinuteLater.judgeFacts({
    devices: due.map((device) => ({ ...device, judge: () => undefined })),
  })
  expect(await dueNow()).toEqual([])
}

/** Decides the nth fact from the nth entry, unless the device was erased after it, or it was judged. */
function deciding(
  device: Pick<DeviceFact, 'accountId' | 'deviceId'>,
  offset: number,
  facts: readonly DeviceFact[],
): JudgeDevice {
  return {
    ...device,
    judge(before) {
      if (offset <= (before?.applied[0] ?? -1)) return undefined
      const state: FactState = { sequence: offset, applied: { 0: offset }, due: null }
      return { state, facts: facts.slice(offset - 1, offset) }
    },
  }
}

function fact(
  device: Pick<DeviceFact, 'accountId' | 'deviceId'>,
  sequence: number,
  after = sequence,
): DeviceFact {
  const at = T0 + after
  const online = { ...device, type: 'device.online', sequence, at, previous: null } as const
  return { ...online, id: factId(online, ''), decidedAt: at, inside: [] }
}
