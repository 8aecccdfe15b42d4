import type { Filter } from 'mongodb'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { ErasureEntry, ReportEntry } from '../read-models.ts'
import type { Erased, PositionDocument } from './collections.ts'

const IDS_KEPT = 20

/** Only the first copy of an erasure in the log counts: later copies would erase newer reports. */
export function addErasure(
  erased: Erased | undefined,
  { origin: { partition, offset }, event: { eventId, erasedAt } }: ErasureEntry,
): Erased {
  if (erased === undefined) {
    return {
      upTo: { [partition]: offset },
      at: { [partition]: new Date(erasedAt) },
      ids: [eventId],
    }
  }
  if (erased.ids.includes(eventId)) return erased
  const { upTo, at, ids } = erased
  return {
    upTo: { ...upTo, [partition]: Math.max(upTo[partition] ?? -1, offset) },
    at: { ...at, [partition]: new Date(Math.max(at[partition]?.getTime() ?? 0, erasedAt)) },
    ids: [...ids, eventId].slice(-IDS_KEPT),
  }
}

/**
 * Whether an erasure is applied: it is among the last ones, or older than all of a large number.
 */
export function isApplied(erased: Erased | undefined, eventId: string): boolean {
  if (erased === undefined) return false
  const { ids } = erased
  return ids.includes(eventId) || (ids.length === IDS_KEPT && ids.some((id) => id > eventId))
}

/**
 * Whether an erasure of its device covers an entry; entries from a spool are also compared by time.
 */
export function isEntryErased(erased: Erased | undefined, entry: ReportEntry): boolean {
  if (erased === undefined) return false
  const { origin, event } = entry
  return (
    isWithdrawn(entry, newestErasure(erased).getTime()) ||
    isErased(erased, { origin, receivedAt: event.receivedAt })
  )
}

/**
 * Whether a record is covered by an erasure of its device. Offsets of different partitions are not
 * comparable, so between partitions the time decides.
 */
export function isErased(
  erased: Erased | undefined,
  { origin, receivedAt }: { readonly origin: Origin; readonly receivedAt: number },
): boolean {
  if (erased === undefined) return false
  return Object.entries(erased.upTo).some(([partition, upTo]) =>
    Number(partition) === origin.partition
      ? origin.offset < upTo
      : receivedAt <= (erased.at[Number(partition)]?.getTime() ?? 0),
  )
}

/** Returns filters for erased records: a record matching any filter is erased. */
export function erasedRecordFilters({ upTo, at }: Erased): Filter<PositionDocument>[] {
  return Object.entries(upTo).flatMap(([key, offset]) => {
    const partition = Number(key)
    return [
      { 'origin.partition': partition, 'origin.offset': { $lt: offset } },
      {
        'origin.partition': { $ne: partition },
        receivedAt: { $lte: at[partition] ?? new Date(0) },
      },
    ]
  })
}

/** The time of a device's newest erasure: the age of the device's tombstone. */
export function newestErasure({ at }: Erased): Date {
  return new Date(Math.max(...Object.values(at).map((time) => time.getTime())))
}
