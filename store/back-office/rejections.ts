import {
  REJECTIONS_KEPT,
  REJECTIONS_KEPT_MS,
  type RejectionError,
  type ReportRejected,
} from '../../schemas/events/report-rejected.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { RejectionFilter, Rejections } from '../rejections.ts'
import type { DocumentStore } from '../documents.ts'
import type { RejectionDocument } from './kinds.ts'

/** The number of rejections read at a time, with their bodies: other work runs after each. */
const LOOKED_AT_ONCE = 100

/**
 * Saving removes what exceeds the age or number limits, `removeOutdated` what has become too old;
 * such rejections are never returned.
 */
export function rejectionsOf(
  rejections: DocumentStore<RejectionDocument>,
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

    forgetRejections: ({ accountId, deviceId, upTo }) =>
      rejections.removeOlder({
        index: 'device',
        where: { accountId, deviceId },
        // Ids are ULIDs.
        than: ulid(upTo + 1, new Uint8Array(10)),
      }),

    async pageRejections({ limit, after, ...filter }) {
      const rejections: ReportRejected[] = []
      const { keyId, deviceId, error, to } = filter
      const isPicked =
        error !== undefined || to !== undefined || (keyId !== undefined && deviceId !== undefined)
      const size = isPicked ? LOOKED_AT_ONCE : Math.min(limit, LOOKED_AT_ONCE)
      for await (const page of pages(filter, size, after)) {
        rejections.push(...page)
        if (rejections.length >= limit) break
        await endOfTurn()
      }
      return rejections.slice(0, limit)
    },

    async countRejections(filter) {
      const [byError, byKey] = [new Map<RejectionError, number>(), new Map<string, number>()]
      const byDevice = new Map<string, number>()
      let total = 0
      for await (const page of pages(filter, LOOKED_AT_ONCE)) {
        for (const { error, keyId, deviceId, count } of page) {
          total += count
          add(byError, error, count)
          add(byKey, keyId, count)
          if (deviceId !== undefined) add(byDevice, deviceId, count)
        }
        await endOfTurn()
      }
      return { total, byError, byKey, byDevice }
    },
  }

  /** Read from the newest, `size` at a time; a page may have fewer after filtering. */
  async function* pages(
    { accountId, keyId, deviceId, error, from = 0, to = Infinity }: RejectionFilter,
    size: number,
    after?: string,
  ): AsyncGenerator<ReportRejected[], void> {
    const since = Math.max(clock.now() - REJECTIONS_KEPT_MS, from)
    // A device has fewer rejections than a key, so the device's are read and filtered by key.
    const query = {
      ...(deviceId !== undefined
        ? { index: 'device', where: { accountId, deviceId } }
        : keyId !== undefined
          ? { index: 'key', where: { accountId, keyId } }
          : { index: 'account', where: { accountId } }),
      order: 'desc',
      limit: size,
    } as const
    for (let last = after; ;) {
      const page = await rejections.find({ ...query, ...(last && { after: { id: last } }) })
      const young = page.filter(({ receivedAt }) => receivedAt >= since)
      yield young
        .filter((one) => one.receivedAt < to && (keyId === undefined || one.keyId === keyId))
        .map(({ event }) => JSON.parse(event) as ReportRejected)
        .filter((event) => error === undefined || event.error === error)
      last = page.at(-1)?.id
      // Ids are ULIDs, so everything after an old one is old too.
      if (young.length < size) return
    }
  }
}

function add<Name>(counts: Map<Name, number>, name: Name, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

function rejectionDocument(event: ReportRejected): RejectionDocument {
  const { rejectionId, accountId, keyId, deviceId, receivedAt } = event
  return {
    id: rejectionId,
    accountId,
    keyId,
    receivedAt,
    ...(deviceId?.isWellFormed() && { deviceId }),
    event: JSON.stringify(event),
  }
}
