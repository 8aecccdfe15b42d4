import { deviceStatus } from '../projector/device-status.ts'
import type { DeviceStatus, Offsets, Origin, PositionRecord } from '../schemas/read-models.ts'
import type { Generation } from '../store/store.ts'
import { canonicalRecord, canonicalStatus, UnorderedHash } from './canonical.ts'

/** What a generation of the read models amounts to. */
export type Digest = {
  readonly records: { readonly count: number; readonly hash: string }
  readonly devices: { readonly count: number; readonly hash: string }
}

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

const DEVICES_AT_ONCE = 200

/**
 * Counts and hashes what a generation says of the part of the log that is covered, while it goes on
 * being written. Records are as they are stored. A device's status has moved on since, so it is
 * taken back: it has to be what the device's records fold to, and counts as what those of them fold
 * to that are covered. One that is not what its records fold to counts as it is stored. Rejects
 * when `signal` is aborted.
 */
export async function digestOf(
  generation: Pick<Generation, 'accounts' | 'pageStatuses' | 'scanRecords'>,
  cover: Cover,
  signal: AbortSignal,
): Promise<Digest> {
  const records = new UnorderedHash()
  const devices = new UnorderedHash()
  for (const accountId of await generation.accounts()) {
    let after: string | undefined
    for (;;) {
      const from = after === undefined ? {} : { after }
      // Before the records: what is folded into a status by now is among the records read then.
      const page = await generation.pageStatuses({ accountId, limit: DEVICES_AT_ONCE, ...from })
      const last = page.at(DEVICES_AT_ONCE - 1)?.deviceId
      const upTo = last === undefined ? {} : { upTo: last }
      const folded = new Map(page.map((status) => [status.deviceId, foldOf(status, cover)]))
      for await (const chunk of generation.scanRecords({ accountId, ...from, ...upTo })) {
        signal.throwIfAborted()
        for (const record of chunk) {
          if (record.receivedAt < cover.receivedSince) continue
          if (isWithin(record.origin, cover.upTo)) records.add(canonicalRecord(record))
          folded.get(record.deviceId)?.add(record)
        }
      }
      for (const device of folded.values()) {
        const status = device.covered()
        if (status !== undefined) devices.add(canonicalStatus(status))
      }
      if (last === undefined) break
      after = last
    }
  }
  const { count, hash } = records
  return { records: { count, hash }, devices: { count: devices.count, hash: devices.hash } }
}

/** Folds a device's records again, to hold its stored status against them. */
function foldOf(stored: DeviceStatus, { upTo, receivedSince, partial }: Cover) {
  let all: DeviceStatus | undefined
  let covered: DeviceStatus | undefined

  return {
    add(record: PositionRecord): void {
      // Beyond what was applied when the status was read.
      if (!isWithin(record.origin, stored.applied)) return
      all = folded(all, record)
      if (isWithin(record.origin, upTo)) covered = folded(covered, record)
    },

    /** The status as of `upTo`; undefined where the device has nothing that is covered. */
    covered(): DeviceStatus | undefined {
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

function isWithin({ partition, offset }: Origin, offsets: Offsets): boolean {
  return offset <= (offsets[partition] ?? -1)
}
