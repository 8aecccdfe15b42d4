import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { ulid } from '../../schemas/record-id.ts'
import type { AuditEntry, AuditQuery } from '../../store/back-office.ts'
import type { DeviceErased } from '../../schemas/device-erased.ts'
import { deviceErased, reportRejected, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, newAccountId, operator } from './store-samples.ts'

export function auditContract({ promise, alone, shared }: StoreSuite): void {
  alone('the audit forgets devices that an earlier version erased', async ({ store, reopen }) => {
    const first = account()
    const accountId = first.id
    await store.createFirstOperator({ account: first, operator: operator({ accountId }) })
    const on = (at: number, id: string, action = 'device.changed') =>
      entry({ accountId, at, action, subject: { kind: 'device', id }, details: { name: 'Ana' } })
    const erased = Array.from({ length: 120 }, (_, n) => on(T0 + n, `van-${n}`))
    const left = [on(T0 + 1_000, 'van-0'), on(T0, 'bus')]
    for (const one of [...erased, ...left]) await store.appendAudit(one)
    for (const { at, subject } of erased) {
      await store.appendAudit(withoutDetails(on(at + 1, subject.id, 'device.erased')))
    }
    await store.finishErasures()
    const query = { accountId, action: 'device.changed', limit: 200 }
    const named = (await store.pageAudit(query)).entries.filter(({ details }) => details)
    expect(named).toEqual(left)
    // Only once: what this version erases is finished otherwise.
    const next = await reopen()
    const late = on(T0, 'van-1')
    await next.appendAudit(late)
    await next.finishErasures()
    expect((await next.pageAudit(query)).entries).toContainEqual(late)
  })

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
      expect(await page(accountId)).toEqual([full, plain])
      expect(Object.keys((await page(accountId))[1] ?? {})).not.toContain('details')
      await shared.reopen()
      expect(await page(accountId)).toEqual([full, plain])
    },
  )

  promise(
    'entries on a device lose their details with it, and stay themselves',
    async ({ accountId }) => {
      const on = (id: string, account = accountId, kind: 'device' | 'key' = 'device') =>
        entry({
          accountId: account,
          at: T0,
          subject: { kind, id },
          action: 'device.changed',
          details: { name: 'Name of a person', labels: ['home'] },
        })
      const [erased, other, ofKey] = [on('van'), on('van 2'), on('van', accountId, 'key')]
      const theirs = on('van', newAccountId())
      const later = { ...on('van'), at: T0 + 1 }
      for (const one of [erased, other, ofKey, theirs, later]) await shared.store.appendAudit(one)
      for (let n = 0; n < 2; n += 1) {
        await shared.store.forgetAuditDetails({ accountId, deviceId: 'van', upTo: T0 })
      }
      const kept = await page(accountId)
      expect(kept).toHaveLength(4)
      expect(kept).toEqual(
        expect.arrayContaining([{ ...erased, details: undefined }, other, ofKey, later]),
      )
      expect(kept.find(({ id }) => id === erased.id)).not.toHaveProperty('details')
      expect(await page(theirs.accountId)).toEqual([theirs])
    },
  )

  promise(
    'an entry on several devices keeps the labels of the others when one is erased, and none when all are',
    async ({ accountId }) => {
      const entries = Array.from({ length: 130 }, (_, n) =>
        labelled({ accountId, at: T0 + n, deviceIds: n % 2 ? ['van'] : ['van', 'bus'] }),
      )
      const other = labelled({ accountId, at: T0 + 130, deviceIds: ['bus'] })
      for (const one of [...entries, other]) await shared.store.appendAudit(one)
      const device = { accountId, deviceId: 'van' }
      for (let n = 0; n < 2; n += 1) {
        await shared.store.forgetAuditDetails({ ...device, upTo: T0 + 130 })
      }
      const query = { accountId, action: 'devices.labelled', limit: 200 }
      const { entries: kept } = await shared.store.pageAudit(query)
      const left = entries.map((one) => {
        const isOfTwo = devicesOf(one).includes('bus')
        const details = { ...one.details, deviceIds: ['bus'] }
        return isOfTwo ? { ...one, details } : withoutDetails(one)
      })
      expect(kept).toEqual([other, ...left.reverse()])
      expect(await allPages({ accountId, subjectId: 'van', limit: 9 })).toEqual([])
    },
  )

  promise(
    'entries on a link lose its title with each of its devices, and the device',
    async ({ accountId }) => {
      const on = (action: string, id: string, details: AuditEntry['details']) =>
        entry({ accountId, at: T0, action, subject: { kind: 'share', id }, details: details ?? {} })
      const trailMinutes = 30
      const created = on('share.created', 'link', {
        name: 'Vans of Ana',
        deviceIds: ['van', 'bus'],
        trailMinutes,
      })
      const revoked = on('share.revoked', 'link', { name: 'Vans of Ana' })
      const other = on('share.created', 'other', { name: 'Bus', deviceIds: ['bus'] })
      const otherEnd = on('share.revoked', 'other', { name: 'Bus' })
      for (const one of [created, revoked, other, otherEnd]) await shared.store.appendAudit(one)
      await shared.store.forgetAuditDetails({ accountId, deviceId: 'van', upTo: T0 })
      const kept = await page(accountId)
      const bare = withoutDetails(revoked)
      const left = { ...created, details: { deviceIds: ['bus'], trailMinutes } }
      expect(kept).toHaveLength(4)
      expect(kept).toEqual(expect.arrayContaining([left, bare, other, otherEnd]))
    },
  )

  promise(
    'what is recorded after a device was erased says nothing of the life before',
    async ({ accountId }) => {
      const erasure = deviceErased({ accountId, deviceId: 'van' })
      const lives = new Map([
        ['van', undefined],
        ['bus', undefined],
      ])
      await shared.store.hideErased(erasure)
      await shared.store.finishErasures({ accountId, deviceId: 'van' })
      const own = entry({
        accountId,
        at: T0 + 1,
        subject: { kind: 'device', id: 'van' },
        details: { name: 'Name of a person' },
      })
      const ofMany = labelled({ accountId, at: T0 + 2, deviceIds: ['van', 'bus'] })
      await shared.store.appendAudit(own, new Map([['van', undefined]]))
      await shared.store.appendAudit(ofMany, lives)
      const bare = withoutDetails(own)
      const left = { ...ofMany, details: { ...ofMany.details, deviceIds: ['bus'] } }
      expect(await page(accountId)).toEqual([left, bare])
      const current = await shared.store.livesOf({ accountId, deviceIds: ['van'] })
      const next = { ...own, id: ulid(T0 + 3, randomBytes(10)), at: T0 + 3 }
      await shared.store.appendAudit(next, new Map([['van', current.get('van')]]))
      expect((await page(accountId))[0]).toEqual(next)
    },
  )

  promise(
    'an erasure whose process ended before it came to the audit and the refused reports is finished later',
    async ({ accountId }) => {
      const device = { accountId, deviceId: 'van' }
      const erasures = [
        ['hidden', (erasure) => shared.store.hideErased(erasure)],
        ['only announced', (erasure) => shared.store.forgetErased(erasure)],
        // The store was restored from before the erasure.
        ['never heard of', (erasure) => shared.store.forgetErased(erasure)],
      ] as const satisfies [string, (erasure: DeviceErased) => Promise<void>][]
      for (const [name, hide] of erasures) {
        const at = Date.now()
        const erasure = deviceErased({
          ...device,
          eventId: ulid(at, randomBytes(10)),
          erasedAt: at,
        })
        if (name !== 'never heard of') await shared.store.announceErasure(erasure)
        const own = entry({
          accountId,
          at: T0,
          subject: { kind: 'device', id: 'van' },
          details: { name },
        })
        const rejectionId = ulid(T0, randomBytes(10))
        const refused = { rejectionId, ...device, receivedAt: at, body: name }
        const other = { ...refused, rejectionId: ulid(T0, randomBytes(10)), deviceId: 'bus' }
        await shared.store.appendAudit(own)
        await shared.store.saveRejections([reportRejected(refused), reportRejected(other)])
        await hide(erasure)
        await shared.store.finishErasures()
        expect((await page(accountId)).find(({ id }) => id === own.id)).not.toHaveProperty(
          'details',
        )
        expect(await shared.store.pageRejections({ ...device, limit: 9 })).toEqual([])
        const others = await shared.store.pageRejections({ accountId, deviceId: 'bus', limit: 9 })
        expect(others).not.toEqual([])
      }
    },
  )

  promise(
    'the audit keeps what was written under an id, whoever writes there again',
    async ({ accountId }) => {
      const first = entry({ accountId, at: T0 })
      await shared.store.appendAudit(first)
      await shared.store.appendAudit({ ...first, action: 'key.revoked' }).catch(() => undefined)
      expect(await page(accountId)).toEqual([first])
    },
  )

  promise(
    'the audit finds what an operator did, what was done, to whom and when, in pages',
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
        expect(await allPages({ accountId, ...query, limit: 7 })).toEqual(wanted)
      }
    },
  )

  promise(
    'the audit finds a change of many devices by each of them, among other entries, in pages',
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
        expect(await allPages({ accountId, ...query, limit: 3 })).toEqual(wanted)
      }
    },
  )

  promise(
    'the audit ends a page early where entries name thousands of devices, and goes on in the next',
    async ({ accountId }) => {
      const deviceIds = Array.from({ length: 1_000 }, (_, n) => `van-${n}`)
      const last = labelled({ accountId, at: T0, deviceIds: ['rare', ...deviceIds.slice(1)] })
      await shared.store.appendAudit(last)
      for (let n = 1; n <= 45; n += 1) {
        await shared.store.appendAudit(labelled({ accountId, at: T0 + n, deviceIds }))
      }
      const pages = await pagesOf({ accountId, limit: 1_000 })
      expect(pages.map(({ length }) => length)).toEqual([20, 20, 6])
      const search = await pagesOf({ accountId, subjectId: 'rare', limit: 1_000 })
      expect(search).toEqual([[], [], [last]])
    },
  )

  async function page(accountId: string): Promise<readonly AuditEntry[]> {
    return (await shared.store.pageAudit({ accountId, limit: 99 })).entries
  }

  async function pagesOf(query: AuditQuery): Promise<(readonly AuditEntry[])[]> {
    const pages: (readonly AuditEntry[])[] = []
    for (let after: string | undefined; ;) {
      const { entries, next } = await shared.store.pageAudit({ ...query, after })
      pages.push(entries)
      if (next === undefined) return pages
      after = next
    }
  }

  async function allPages(query: AuditQuery): Promise<AuditEntry[]> {
    return (await pagesOf(query)).flat()
  }
}

/** Of a database in this process; a server's answers come in turns of their own. */
export function auditTurnsContract({ promise, shared }: StoreSuite): void {
  promise(
    'the audit leaves turns to others while it looks for a few among many',
    async ({ accountId }) => {
      const own = { kind: 'operator', id: 'busy', name: 'x' } as const
      // A server takes no more at once.
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

function labelled({
  deviceIds,
  ...fields
}: {
  accountId: string
  at: number
  deviceIds: readonly string[]
}): AuditEntry {
  const subject = { kind: 'devices', id: fields.accountId } as const
  return entry({
    ...fields,
    action: 'devices.labelled',
    subject,
    details: { deviceIds, add: ['x'] },
  })
}

function withoutDetails(entry: AuditEntry): AuditEntry {
  const { details, ...bare } = entry
  expect(details).toBeDefined()
  return bare
}

function devicesOf({ details }: AuditEntry): readonly string[] {
  return (details?.['deviceIds'] ?? []) as readonly string[]
}

function entry(fields: Partial<AuditEntry> & { accountId: string; at: number }): AuditEntry {
  return {
    id: ulid(fields.at, randomBytes(10)),
    actor: { kind: 'operator', id: 'operator-1', name: 'ana@example.org' },
    action: 'key.created',
    subject: { kind: 'key', id: 'key-1' },
    address: '192.0.2.7',
    requestId: 'request-1',
    ...fields,
  }
}
