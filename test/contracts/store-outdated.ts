import { expect } from '@jest/globals'
import { randomBytes, randomUUID } from 'node:crypto'
import { secretHash } from '../../schemas/access/api-key.ts'
import { REJECTIONS_KEPT_MS } from '../../schemas/events/report-rejected.ts'
import { SESSION_IDLE_MS, SESSION_LONGEST_MS, type Session } from '../../store/operators.ts'
import { reportRejected } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, operator } from './store-samples.ts'

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS
// Not before any store's clock, so that the store shows everything it still has.
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS

/** Removal depends only on the time passed in: no later item of the kind arrives. */
export function outdatedContract({ alone }: StoreSuite): void {
  alone('expired sessions are removed without another sign-in', async ({ store }) => {
    const first = account()
    const ana = operator({ accountId: first.id })
    await store.createFirstOperator({ account: first, operator: ana })
    const session = (createdAt: number, lastSeenAt: number): Session => ({
      tokenHash: randomBytes(32),
      operatorId: ana.id,
      createdAt,
      lastSeenAt,
    })
    const old = session(NOW - SESSION_LONGEST_MS - 1, NOW)
    const idle = session(NOW - HOUR_MS, NOW - SESSION_IDLE_MS - 1)
    const live = session(NOW - SESSION_LONGEST_MS, NOW - SESSION_IDLE_MS)
    for (const one of [old, idle, live]) await store.createSession(one)
    await store.removeOutdated(NOW)
    expect(await store.findSession(old.tokenHash)).toBeUndefined()
    expect(await store.findSession(idle.tokenHash)).toBeUndefined()
    expect(await store.findSession(live.tokenHash)).toBeDefined()
  })

  alone(
    'shares are removed a week after they expire, without a new share',
    async ({ store, accountId }) => {
      const share = (expiresAt: number) => ({
        id: randomUUID(),
        accountId,
        name: 'Ferries',
        trailMinutes: 30,
        expiresAt,
        devices: [{ deviceId: 'tug', ref: 'ref' }],
        createdAt: NOW - 2 * WEEK_MS,
      })
      const [old, young] = [share(NOW - WEEK_MS - 1), share(NOW - WEEK_MS)] as const
      for (const one of [old, young]) await store.createShare(one, secretHash(randomUUID()))
      await store.removeOutdated(NOW)
      expect(await store.pageShares({ accountId, limit: 9 })).toEqual([young])
    },
  )

  alone(
    'an instance is removed an hour after its last report, and its minutes after a day, without another report',
    async ({ store }) => {
      const report = (reportedAt: number) => ({
        instanceId: randomUUID(),
        service: 'ingest-api' as const,
        version: '1.2.0',
        host: 'host',
        startedAt: 0,
        reportedAt,
        acceptedPerMinute: 1,
        refusedPerMinute: 0,
      })
      const times = [NOW - 26 * HOUR_MS, NOW - 24 * HOUR_MS, NOW - HOUR_MS - 1, NOW - HOUR_MS]
      const [, , , young] = await Promise.all(
        times.map(async (time) => {
          const one = report(time)
          await store.saveInstance(one)
          return one
        }),
      )
      await store.removeOutdated(NOW)
      expect(await store.instances({ reportedSince: 0 })).toEqual([young])
      const minutes = await store.instanceMinutes({ since: 0 })
      expect(minutes.map(({ start }) => NOW - start).sort((a, b) => a - b)).toEqual([
        HOUR_MS,
        HOUR_MS + 60_000,
        24 * HOUR_MS,
      ])
    },
  )

  alone(
    'rejected reports are removed after a week, without a new rejection',
    async ({ store, accountId }) => {
      const rejected = (receivedAt: number) => reportRejected({ accountId, receivedAt })
      const [old, young] = [rejected(NOW), rejected(NOW + 1)] as const
      await store.saveRejections([old, young])
      await store.removeOutdated(NOW + REJECTIONS_KEPT_MS + 1)
      expect(await store.pageRejections({ accountId, limit: 9 })).toEqual([young])
    },
  )
}
