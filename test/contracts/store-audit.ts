import { expect } from '@jest/globals'
import type { AuditQuery } from '../../store/back-office.ts'
import { T0 } from '../samples.ts'
import { auditPages, devicesOf, entry, labelled, newestEntries } from './audit-samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { newAccountId } from './store-samples.ts'

export function auditContract({ promise, shared }: StoreSuite): void {
  promise(
    'audit entries come back as they were written, also after a restart',
    async ({ accountId }) => {
      const plain = entry({ accountId, at: T0 })
      const full = entry({
        accountId,
        at: T0 + 1,
        actor: { kind: 'key', id: 'key-1', name: 'gateway "Süd" 😀' },
        subject: { kind: 'device', id: '$where.a' },
        action: 'device.changed',
        details: {
          $set: { 'a.b': null },
          list: [1, 'two', { three: 3.5 }],
          text: '<script>\0',
          none: null,
        },
      })
      await shared.store.appendAudit(plain)
      await shared.store.appendAudit(full)
      expect(await newestEntries(shared.store, accountId)).toEqual([full, plain])
      expect(Object.keys((await newestEntries(shared.store, accountId))[1] ?? {})).not.toContain(
        'details',
      )
      await shared.reopen()
      expect(await newestEntries(shared.store, accountId)).toEqual([full, plain])
    },
  )

  promise('the audit never overwrites an entry, whoever reuses its id', async ({ accountId }) => {
    const first = entry({ accountId, at: T0 })
    await shared.store.appendAudit(first)
    await shared.store.appendAudit({ ...first, action: 'key.revoked' }).catch(() => undefined)
    expect(await newestEntries(shared.store, accountId)).toEqual([first])
  })

  promise(
    'the audit can be searched by operator, action, subject and time, in pages',
    async ({ accountId }) => {
      const entries = Array.from({ length: 60 }, (_, n) =>
        entry({
          accountId,
          at: T0 + (n >> 1),
          actor: { kind: n % 5 === 0 ? 'key' : 'operator', id: `actor-${n % 3}`, name: 'x' },
          action: `thing.done-${n % 4}`,
          subject: { kind: 'device', id: `$ne.${n % 2}` },
        }),
      )
      for (const one of entries) await shared.store.appendAudit(one)
      const other = entry({
        accountId: newAccountId(),
        at: T0,
        subject: { kind: 'key', id: '$ne.0' },
      })
      await shared.store.appendAudit(other)
      const sorted = [...entries].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      const queries: Omit<AuditQuery, 'accountId' | 'limit'>[] = [
        {},
        { operatorId: 'actor-1' },
        { subjectId: '$ne.1' },
        { action: 'thing.done-2' },
        { operatorId: 'actor-2', subjectId: '$ne.0', action: 'thing.done-0' },
        { from: T0 + 7 },
        { to: T0 + 7 },
        { subjectId: '$ne.0', from: T0 + 3, to: T0 + 20 },
        { operatorId: 'actor-0', to: T0 + 20 },
        { operatorId: 'none' },
        { from: T0 + 99 },
        { to: T0 },
      ]
      for (const query of queries) {
        const { operatorId, action, subjectId, from = 0, to = Infinity } = query
        const wanted = sorted.filter(
          ({ at, actor, ...one }) =>
            (operatorId === undefined || (actor.kind === 'operator' && actor.id === operatorId)) &&
            (action === undefined || one.action === action) &&
            (subjectId === undefined || one.subject.id === subjectId) &&
            at >= from &&
            at < to,
        )
        expect((await auditPages(shared.store, { accountId, ...query, limit: 7 })).flat()).toEqual(
          wanted,
        )
      }
    },
  )

  promise(
    'the audit finds a change of many devices by any of them, among other entries, in pages',
    async ({ accountId }) => {
      const entries = Array.from({ length: 40 }, (_, n) =>
        n % 3 === 0
          ? entry({ accountId, at: T0 + (n >> 1), subject: { kind: 'device', id: `d-${n % 4}` } })
          : labelled({
              accountId,
              at: T0 + (n >> 1),
              deviceIds: [`d-${n % 4}`, `d-${n % 5}`, 'all'],
            }),
      )
      for (const one of entries) await shared.store.appendAudit(one)
      const newestFirst = [...entries].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      for (const query of [
        { subjectId: 'd-0' },
        { subjectId: 'all' },
        { subjectId: 'd-1', from: T0 + 3, to: T0 + 15 },
        { subjectId: 'd-2', operatorId: 'operator-1', action: 'devices.labelled' },
        { subjectId: 'd-3', action: 'key.created' },
        { subjectId: 'd' },
        { subjectId: accountId },
      ]) {
        const { action, subjectId, from = 0, to = Infinity } = query
        const wanted = newestFirst.filter(
          (one) =>
            [one.subject.id, ...devicesOf(one)].includes(subjectId) &&
            (action === undefined || one.action === action) &&
            one.at >= from &&
            one.at < to,
        )
        expect((await auditPages(shared.store, { accountId, ...query, limit: 3 })).flat()).toEqual(
          wanted,
        )
      }
    },
  )

  promise(
    'the audit ends a page early if entries name thousands of devices, and continues on the next',
    async ({ accountId }) => {
      const deviceIds = Array.from({ length: 1_000 }, (_, n) => `van-${n}`)
      const last = labelled({ accountId, at: T0, deviceIds: ['rare', ...deviceIds.slice(1)] })
      await shared.store.appendAudit(last)
      for (let n = 1; n <= 45; n += 1) {
        await shared.store.appendAudit(labelled({ accountId, at: T0 + n, deviceIds }))
      }
      const pages = await auditPages(shared.store, { accountId, limit: 1_000 })
      expect(pages.map(({ length }) => length)).toEqual([20, 20, 6])
      const search = await auditPages(shared.store, { accountId, subjectId: 'rare', limit: 1_000 })
      expect(search).toEqual([[], [], [last]])
    },
  )
}

/** For an in-process database; a server responds between turns anyway. */
export function auditTurnsContract({ promise, shared }: StoreSuite): void {
  promise(
    'other work runs while the audit searches for few entries among many',
    async ({ accountId }) => {
      const own = { kind: 'operator', id: 'busy', name: 'x' } as const
      // A server accepts no more at a time.
      for (let n = 0; n < 2_000; n += 20) {
        const some = Array.from({ length: 20 }, (_, k) =>
          entry({ accountId, at: T0 + n + k, actor: own }),
        )
        await Promise.all(some.map((one) => shared.store.appendAudit(one)))
      }
      const rare = entry({ accountId, at: T0, actor: own, action: 'rare' })
      await shared.store.appendAudit(rare)
      let turns = 0
      const count = () => {
        turns += 1
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      const query = { accountId, operatorId: 'busy', action: 'rare', limit: 9 }
      expect(await shared.store.pageAudit(query)).toEqual({ entries: [rare] })
      clearImmediate(counting)
      expect(turns).toBeGreaterThanOrEqual(4)
    },
  )
}
