import {
  REJECTIONS_KEPT,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { Rejections } from '../back-office.ts'
import type { Documents } from '../documents.ts'
import type { RejectionDocument } from './kinds.ts'

/** Saving removes what exceeds the age or number limits; expired rejections are never shown. */
export function rejectionsOf(
  rejections: Documents<RejectionDocument>,
  { clock }: { clock: { now(): number } },
): Rejections {
  async function removeBeyondCount(accountId: string): Promise<void> {
    const query = { index: 'account', where: { accountId } } as const
    const newest = { ...query, order: 'desc', skip: REJECTIONS_KEPT - 1, limit: 1 } as const
    const [last] = await rejections.find(newest)
    if (last !== undefined) await rejections.removeOlder({ ...query, than: last.id })
  }

  return {
    async saveRejections(events) {
      if (events.length === 0) return
      await rejections.insert(events.map(rejectionDocument))
      const newest = Math.max(...events.map(({ receivedAt }) => receivedAt))
      await rejections.removeOlder({ index: 'received', than: newest - REJECTIONS_KEPT_MS })
      for (const accountId of new Set(events.map((event) => event.accountId))) {
        await removeBeyondCount(accountId)
      }
    },

    async pageRejections({ accountId, keyId, deviceId, limit, after }) {
      const since = clock.now() - REJECTIONS_KEPT_MS
      const found: RejectionDocument[] = []
      // A device has fewer rejections than a key, so the device's are read and filtered by key.
      const query = {
        ...(deviceId !== undefined
          ? { index: 'device', where: { accountId, deviceId } }
          : keyId !== undefined
            ? { index: 'key', where: { accountId, keyId } }
            : { index: 'account', where: { accountId } }),
        order: 'desc',
        limit,
      } as const
      for (let last = after; ;) {
        const page = await rejections.find({ ...query, ...(last && { after: { id: last } }) })
        const young = page.filter(({ receivedAt }) => receivedAt >= since)
        found.push(...young.filter((one) => keyId === undefined || one.keyId === keyId))
        last = page.at(-1)?.id
        // An id is a ULID, so everything after an old one is old too.
        if (young.length < limit || found.length >= limit) break
      }
      return found.slice(0, limit).map(({ event }) => JSON.parse(event) as ReportRejected)
    },
  }
}

export function rejectionDocument(event: ReportRejected): RejectionDocument {
  const { rejectionId, accountId, keyId, deviceId, receivedAt } = event
  return {
    id: rejectionId,
    ...{ accountId, keyId, receivedAt },
    ...(deviceId?.isWellFormed() && { deviceId }),
    event: JSON.stringify(event),
  }
}
