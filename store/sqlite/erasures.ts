import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { Offsets, Origin } from '../../schemas/devices/read-models.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import type { DeviceName } from './device-statuses.ts'

export type StoredErasure = { readonly origin: Origin; readonly event: DeviceErased }

/** The erasures in one generation's file, including those in progress. */
export type AppliedErasures = {
  isApplied(eventId: string): boolean
  /** Starts an erasure of several transactions: from now on the device counts as erased. */
  begin(erasure: StoredErasure): void
  apply(erasure: StoredErasure): void
  /** The offset of a device's last applied erasure, by partition. */
  appliedUpTo(device: DeviceName): Offsets
  /** Returns the erased offsets, including those of an erasure in progress. */
  begunUpTo(device: DeviceName): Offsets
  /** The time of a device's newest erasure, per partition. */
  times(device: DeviceName): ErasureTime[]
  remove(erasedBefore: number): void
}

export type ErasureTime = { readonly partition: number; readonly erasedAt: number }

type UpTo = { readonly log_partition: number; readonly up_to: number }

export function sqliteErasures(database: Database): AppliedErasures {
  const isApplied = database.prepare<{ applied: number }>(
    'SELECT applied FROM erasures WHERE event_id = ? AND applied = 1',
  )
  // Another process may have applied it in the meantime; started again, it stays applied.
  const save = database.prepare(
    `INSERT INTO erasures VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO UPDATE SET applied = max(applied, excluded.applied)`,
  )
  const upTo = database.prepare<UpTo>(
    `SELECT log_partition, max(log_offset) AS up_to FROM erasures
     WHERE account_id = ? AND device_id = ? AND applied >= ? GROUP BY log_partition`,
  )
  const times = database.prepare<ErasureTime>(
    `SELECT log_partition AS partition, max(erased_at) AS erasedAt FROM erasures
     WHERE account_id = ? AND device_id = ? GROUP BY log_partition`,
  )
  const remove = database.prepare('DELETE FROM erasures WHERE erased_at < ?')

  function write({ event, origin }: StoredErasure, applied: 0 | 1): void {
    const { eventId, accountId, deviceId, erasedAt } = event
    save.run(eventId, accountId, deviceId, origin.partition, origin.offset, erasedAt, applied)
  }

  function offsets({ accountId, deviceId }: DeviceName, leastApplied: 0 | 1): Offsets {
    const rows = upTo.all(accountId, deviceId, leastApplied)
    return Object.fromEntries(rows.map(({ log_partition, up_to }) => [log_partition, up_to]))
  }

  return {
    isApplied: (eventId) => isApplied.get(eventId) !== undefined,
    begin: (erasure) => write(erasure, 0),
    apply: (erasure) => write(erasure, 1),
    appliedUpTo: (device) => offsets(device, 1),
    begunUpTo: (device) => offsets(device, 0),
    times: ({ accountId, deviceId }) => times.all(accountId, deviceId),
    remove(erasedBefore) {
      remove.run(erasedBefore)
    },
  }
}
