import { includes } from '../../event-log/offsets.ts'
import { deviceStatus } from '../../projector/device-status.ts'
import {
  copyHeartbeats,
  type DeviceStatus,
  type Offsets,
  type PositionRecord,
} from '../../schemas/devices/read-models.ts'
import { canonicalRecord, canonicalStatus, UnorderedHash } from './canonical.ts'

/** The part of the log and of the read models to compare. */
export type Cover = {
  /** Compare only events up to these offsets, by partition. */
  readonly upTo: Offsets
  /**
   * Only records received since, in milliseconds: retention may have removed others from one side.
   */
  readonly receivedSince: number
  /**
   * Whether retention has removed anything: counts, first times and heartbeats then also cover
   * removed records, which a rebuild cannot count.
   */
  readonly partial: boolean
}

export type DeviceDigest = ReturnType<typeof deviceDigest>

/**
 * Digests one device of a generation, as of `cover`: its records, and its status at that time. The
 * stored status has changed since. If it equals the fold of all the device's records and
 * heartbeats, the digest uses the fold of the covered ones; otherwise it uses the stored status, so
 * that the difference shows.
 */
export function deviceDigest(
  stored: DeviceStatus | undefined,
  { upTo, receivedSince, partial }: Cover,
) {
  const records = new UnorderedHash()
  let all: DeviceStatus | undefined
  let covered: DeviceStatus | undefined

  return {
    /** The added records that are covered. */
    records,

    add(record: PositionRecord): void {
      if (record.receivedAt < receivedSince) return
      const counts = includes(upTo, record.origin)
      if (counts) records.add(canonicalRecord(record))
      // The record was not yet applied when the status was read.
      if (stored === undefined || !includes(stored.applied, record.origin)) return
      all = foldRecord(all, record)
      if (counts) covered = foldRecord(covered, record)
    },

    /** Whether a heartbeat beyond `upTo` has replaced covered ones. */
    isHeardSince(): boolean {
      return isBeyond(stored?.heartbeats)
    },

    /**
     * Whether readings beyond `upTo` have replaced covered ones, or a position has removed those of
     * repeats.
     */
    isReadSince(): boolean {
      const { heartbeats, repeats } = stored?.readings ?? {}
      const isMoved = covered?.lastPosition.recordId !== all?.lastPosition.recordId
      return isMoved || isBeyond(heartbeats) || isBeyond(repeats)
    },

    /**
     * The status as of `upTo`; undefined if nothing of the device is covered. `heartbeats`,
     * `readings`: whether to include them.
     */
    status(shown: { heartbeats: boolean; readings: boolean }): DeviceStatus | undefined {
      if (stored === undefined) return undefined
      if (all === undefined) return isLeftOver(stored) ? undefined : stored
      if (!agrees(stored, copyHeartbeats(stored, all), partial)) return stored
      if (covered === undefined || partial) return covered
      const { readings, heartbeats, ...alone } = copyHeartbeats(stored, covered)
      const status = shown.heartbeats
        ? { ...alone, ...(heartbeats !== undefined && { heartbeats }) }
        : covered
      return shown.readings && readings !== undefined ? { ...status, readings } : status
    },
  }

  function isBeyond(latest: Readonly<Record<number, { readonly offset: number }>> = {}): boolean {
    return Object.entries(latest).some(
      ([partition, { offset }]) => !includes(upTo, { partition: Number(partition), offset }),
    )
  }

  /** Whether the device's records may have expired, so that only heartbeats preserve it. */
  function isLeftOver({ lastReceivedAt, heartbeats = {} }: DeviceStatus): boolean {
    if (lastReceivedAt < receivedSince) return true
    const times = Object.values(heartbeats).map(({ receivedAt }) => receivedAt)
    return partial && times.includes(lastReceivedAt)
  }
}

function agrees(stored: DeviceStatus, all: DeviceStatus, partial: boolean): boolean {
  if (!partial) return canonicalStatus(stored) === canonicalStatus(all)
  // The imported record last seen may have been removed by retention.
  const isSeen = stored.lastSeenAt >= all.lastSeenAt && stored.reportCount >= all.reportCount
  return isSeen && stored.lastReceivedAt === all.lastReceivedAt
}

/** Each record arrives exactly once, in any order, so `applied` is cleared. */
function foldRecord(previous: DeviceStatus | undefined, record: PositionRecord): DeviceStatus {
  const { origin, ...event } = record
  return deviceStatus(previous && { ...previous, applied: {} }, { origin, event })
}
