import {
  REJECTIONS_KEPT,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { Rejections } from '../back-office.ts'
import type { Collections, RejectionDocument } from './collections.ts'
import { duplicatesOf } from './driver-errors.ts'
import type { Clock } from './lock.ts'

/**
 * What is too many is removed when others are saved. What is too old the server removes by itself,
 * once a minute at best: until then it is not shown, and what is saved after it takes it along.
 */
export function mongoRejections({
  collections: { rejections },
  clock,
}: {
  collections: Pick<Collections, 'rejections'>
  clock: Clock
}): Rejections {
  async function removeBeyondCount(accountId: string): Promise<void> {
    const [first] = await rejections
      .find({ accountId })
      .sort({ _id: -1 })
      .skip(REJECTIONS_KEPT)
      .limit(1)
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    if (first === undefined) return
    await rejections.deleteMany({ accountId, _id: { $lte: first._id } })
  }

  return {
    async saveRejections(events) {
      if (events.length === 0) return
      try {
        await rejections.insertMany(events.map(rejectionDocument), { ordered: false })
      } catch (error) {
        if (duplicatesOf(error) === undefined) throw error
      }
      const newest = Math.max(...events.map(({ receivedAt }) => receivedAt))
      await rejections.deleteMany({ receivedAt: { $lt: new Date(newest - REJECTIONS_KEPT_MS) } })
      for (const accountId of new Set(events.map((event) => event.accountId))) {
        await removeBeyondCount(accountId)
      }
    },

    async pageRejections({ accountId, keyId, deviceId, limit, after }) {
      const page = await rejections
        .find({
          accountId,
          ...(keyId !== undefined && { keyId }),
          ...(deviceId !== undefined && { deviceId }),
          ...(after !== undefined && { _id: { $lt: after } }),
          receivedAt: { $gte: new Date(clock.now() - REJECTIONS_KEPT_MS) },
        })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray()
      return page.map(reportRejected)
    },
  }
}

function rejectionDocument({
  rejectionId,
  receivedAt,
  ...fields
}: ReportRejected): RejectionDocument {
  return { ...fields, _id: rejectionId, receivedAt: new Date(receivedAt) }
}

function reportRejected({ _id, receivedAt, ...fields }: RejectionDocument): ReportRejected {
  return { ...fields, rejectionId: _id, receivedAt: receivedAt.getTime() }
}
