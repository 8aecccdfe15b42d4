import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { ulid } from '../../schemas/events/record-id.ts'
import type { AuditEntry } from '../../store/back-office.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import { deviceErased, reportRejected, T0 } from '../samples.ts'
import {
  auditPages,
  devicesOf,
  entry,
  labelled,
  newestEntries,
  withoutDetails,
} from './audit-samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { newAccountId } from './store-samples.ts'

/** An erasure of a device in the audit. */
export function auditErasuresContract({ promise, shared }: StoreSuite): void {
  promise(
    'erasing a device removes the details of its entries, but not the entries',
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
      const kept = await newestEntries(shared.store, accountId)
      expect(kept).toHaveLength(4)
      expect(kept).toEqual(
        expect.arrayContaining([{ ...erased, details: undefined }, other, ofKey, later]),
      )
      expect(kept.find(({ id }) => id === erased.id)).not.toHaveProperty('details')
      expect(await newestEntries(shared.store, theirs.accountId)).toEqual([theirs])
    },
  )

  promise(
    'an entry about several devices keeps the others’ labels when one is erased, and none when all are',
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
      expect(
        (await auditPages(shared.store, { accountId, subjectId: 'van', limit: 9 })).flat(),
      ).toEqual([])
    },
  )

  promise(
    'erasing any device of a link removes the title and the device from entries about the link',
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
      const kept = await newestEntries(shared.store, accountId)
      const bare = withoutDetails(revoked)
      const left = { ...created, details: { deviceIds: ['bus'], trailMinutes } }
      expect(kept).toHaveLength(4)
      expect(kept).toEqual(expect.arrayContaining([left, bare, other, otherEnd]))
    },
  )

  promise(
    'entries recorded after an erasure say nothing about the device’s earlier life',
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
      expect(await newestEntries(shared.store, accountId)).toEqual([left, bare])
      const current = await shared.store.livesOf({ accountId, deviceIds: ['van'] })
      const next = { ...own, id: ulid(T0 + 3, randomBytes(10)), at: T0 + 3 }
      await shared.store.appendAudit(next, new Map([['van', current.get('van')]]))
      expect((await newestEntries(shared.store, accountId))[0]).toEqual(next)
    },
  )

  promise(
    'an erasure whose process died before the audit and the rejected reports were cleaned is finished later',
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
        expect(
          (await newestEntries(shared.store, accountId)).find(({ id }) => id === own.id),
        ).not.toHaveProperty('details')
        expect(await shared.store.pageRejections({ ...device, limit: 9 })).toEqual([])
        const others = await shared.store.pageRejections({ accountId, deviceId: 'bus', limit: 9 })
        expect(others).not.toEqual([])
      }
    },
  )
}
