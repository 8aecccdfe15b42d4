import { includes } from '../event-log/offsets.ts'
import { deviceStatus } from '../projector/device-status.ts'
import type { DeviceStatus, Offsets, PositionRecord } from '../schemas/read-models.ts'
import { canonicalRecord, canonicalStatus, UnorderedHash } from './canonical.ts'

/** What of the log and of the read models is compared. */
export type Cover = {
  /** Only what stands in the log up to here, by partition. */
  readonly upTo: Offsets
  /** Only records received since, in milliseconds: earlier ones may be gone from one and not yet from the other. */
  readonly receivedSince: number
  /**
   * Retention has taken something: counts and first times then tell of records that no longer are,
   * and a rebuild counts only what the log still holds.
   */
  readonly partial: boolean
}

export type DeviceDigest = ReturnType<typeof deviceDigest>

/**
 * What a generation says of one device as of `cover`: its records as they are stored, and its
 * status, which has moved on since and so is taken back. It has to be what the device's records fold
 * to, and counts as what those of them fold to that are covered. One that is not what its records
 * fold to counts as it is stored.
 */
export function deviceDigest(
  stored: DeviceStatus | undefined,
  { upTo, receivedSince, partial }: Cover,
) {
  const records = new UnorderedHash()
  let all: DeviceStatus | undefined
  let covered: DeviceStatus | undefined

  return {
    /** The covered ones of those that were added. */
    records,

    add(record: PositionRecord): void {
      if (record.receivedAt < receivedSince) return
      const counts = includes(upTo, record.origin)
      if (counts) records.add(canonicalRecord(record))
      // Beyond what was applied when the status was read.
      if (stored === undefined || !includes(stored.applied, record.origin)) return
      all = folded(all, record)
      if (counts) covered = folded(covered, record)
    },

    /** The status as of `upTo`; undefined where the device has nothing that is covered. */
    status(): DeviceStatus | undefined {
      if (stored === undefined) return undefined
      if (all === undefined) return stored.lastSeenAt < receivedSince ? undefined : stored
      return agrees(stored, all, partial) ? covered : stored
    },
  }
}

function agrees(stored: DeviceStatus, all: DeviceStatus, partial: boolean): boolean {
  if (!partial) return canonicalStatus(stored) === canonicalStatus(all)
  return stored.lastSeenAt === all.lastSeenAt && stored.reportCount >= all.reportCount
}

/** Any order will do: each record is one of its own, and `applied` plays no part. */
function folded(previous: DeviceStatus | undefined, record: PositionRecord): DeviceStatus {
  const { origin, ...event } = record
  return deviceStatus(previous && { ...previous, applied: {} }, { origin, event })
}
