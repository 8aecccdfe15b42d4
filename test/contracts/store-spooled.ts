import { expect } from '@jest/globals'
import { positionReported, T0 } from '../samples.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, everythingOf, newAccountId } from './store-samples.ts'

const ERASED_AT = T0 + 5_000
const nothing = { statuses: [], records: [] }

/** Events that have waited in a spool, and so may stand behind an erasure that came after them. */
export function spooledContract({ promise, alone, shared, log }: StoreSuite): void {
  function given() {
    const accountId = newAccountId()
    return {
      accountId,
      at: (receivedAt: number) => positionReported({ accountId, receivedAt }),
      erasure: () => log.erase(deviceErased({ accountId, erasedAt: ERASED_AT })),
      project: (...entries: [ProjectionEntry, ...ProjectionEntry[]]) =>
        shared.store.project(batchOf(...entries)),
      everything: () => everythingOf(shared.store, accountId),
      ids: async () =>
        (await everythingOf(shared.store, accountId)).records.map(({ recordId }) => recordId),
    }
  }

  promise('an event from a spool is stored and counted like any other', async () => {
    const { at, project, everything } = given()
    const [first, second] = [at(T0 + 1), at(T0 + 2)]
    await project(log.append(first), log.drain(second), log.drain(first))
    const { statuses, records } = await everything()
    expect(statuses).toMatchObject([{ reportCount: 2, lastSeenAt: T0 + 2 }])
    expect(records).toHaveLength(2)
  })

  promise(
    'an event from a spool is withdrawn if it was received before an erasure that precedes it in the log',
    async () => {
      const { at, erasure, project, everything, ids } = given()
      await project(log.append(at(T0)), erasure())
      await project(log.drain(at(T0 + 1)), log.drain(at(ERASED_AT)))
      expect(await everything()).toEqual(nothing)
      const kept = at(ERASED_AT + 1)
      await project(log.drain(kept), log.drain(at(ERASED_AT)))
      expect(await ids()).toEqual([kept.recordId])
      expect((await everything()).statuses).toMatchObject([{ reportCount: 1 }])
    },
  )

  promise(
    'an event from a spool is withdrawn in the batch of the erasure too, and when the batch comes again',
    async () => {
      const { at, erasure, project, ids } = given()
      const kept = [at(T0 + 7), at(ERASED_AT + 1)] as const
      const batch = [
        log.drain(at(T0 + 1)),
        erasure(),
        log.drain(at(T0 + 2)),
        log.append(kept[0]),
        log.drain(kept[1]),
      ] as const
      const stored = kept.map(({ recordId }) => recordId)
      await project(...batch)
      expect(await ids()).toEqual(stored)
      await shared.reopen()
      await project(...batch)
      expect(await ids()).toEqual(stored)
    },
  )

  promise(
    'an event from a spool is withdrawn however many erasures lie in between, and in another partition',
    async () => {
      const { accountId, at, erasure, project, everything } = given()
      await project(erasure())
      await project(log.erase(deviceErased({ accountId, erasedAt: ERASED_AT - 3_000 })))
      await project(log.drain(at(ERASED_AT - 1_000)))
      await project(log.drain(at(ERASED_AT - 1_000), 3))
      expect(await everything()).toEqual(nothing)
    },
  )

  promise(
    'an erasure withdraws nothing of another device, and nothing that is not from a spool',
    async () => {
      const { accountId, at, erasure, project, ids } = given()
      await project(erasure())
      const other = positionReported({ accountId, deviceId: 'tracker-2', receivedAt: T0 + 1 })
      const own = at(T0 + 1)
      await project(log.drain(other), log.append(own))
      expect((await ids()).sort()).toEqual([own.recordId, other.recordId].sort())
    },
  )

  promise('a withdrawn report that is sent again is stored', async () => {
    const { at, erasure, project, everything } = given()
    const report = at(T0 + 1)
    const again = { ...report, receivedAt: ERASED_AT + 10 }
    await project(erasure(), log.drain(report), log.append(again), log.drain(report))
    const { statuses, records } = await everything()
    expect(statuses).toMatchObject([{ reportCount: 1, lastSeenAt: again.receivedAt }])
    expect(records).toMatchObject([{ receivedAt: again.receivedAt }])
  })

  alone('a rebuild withdraws the same events from a spool', async ({ store, log }) => {
    const at = (receivedAt: number) => positionReported({ receivedAt })
    const kept = at(ERASED_AT + 1)
    const entries = [
      log.append(at(T0)),
      log.erase(deviceErased({ erasedAt: ERASED_AT })),
      log.drain(at(T0 + 1)),
      log.drain(kept),
    ] as const
    for (const entry of entries) await store.project(batchOf(entry))
    const used = await everythingOf(store, 'acc-1')
    const rebuild = await store.beginRebuild()
    const built = await store.openGeneration(rebuild?.to ?? 0)
    await built.project(batchOf(...entries))
    await rebuild?.switchOver()
    await built.close()
    await rebuild?.end()
    expect(used.records.map(({ recordId }) => recordId)).toEqual([kept.recordId])
    // A store follows a switch within two seconds.
    const own = await store.openGeneration(await store.currentGeneration())
    const statuses = await own.pageStatuses({ accountId: 'acc-1', limit: 9 })
    expect(statuses).toMatchObject([{ reportCount: 1, lastSeenAt: kept.receivedAt }])
    await own.close()
  })
}
