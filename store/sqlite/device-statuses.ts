import type { DeviceStatus, LastPosition, Offsets } from '../../schemas/read-models.ts'
import type { Database } from './database.ts'

export type DeviceName = { readonly accountId: string; readonly deviceId: string }

export type DeviceStatuses = {
  find(device: DeviceName): DeviceStatus | undefined
  page(query: { accountId: string; limit: number; after?: string }): DeviceStatus[]
  /** The next account after this one that has a status. */
  accountAfter(accountId: string): string | undefined
  save(status: DeviceStatus): void
  notSeenSince(time: number): DeviceName[]
  /** Removes the status unless the device has been seen since. */
  removeUnlessSeenSince(device: DeviceName, time: number): boolean
}

type Row = {
  readonly account_id: string
  readonly device_id: string
  readonly first_seen_at: number
  readonly last_seen_at: number
  readonly report_count: number
  readonly last_position: string
  readonly applied: string
}

export const DEVICE_PAGE = `SELECT * FROM device_statuses
  WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`

export function sqliteDeviceStatuses(database: Database): DeviceStatuses {
  const find = database.prepare<Row>(
    'SELECT * FROM device_statuses WHERE account_id = ? AND device_id = ?',
  )
  const page = database.prepare<Row>(DEVICE_PAGE)
  const accountAfter = database.prepare<{ next: string | null }>(
    'SELECT min(account_id) AS next FROM device_statuses WHERE account_id > ?',
  )
  const save = database.prepare('REPLACE INTO device_statuses VALUES (?, ?, ?, ?, ?, ?, ?)')
  const notSeenSince = database.prepare<DeviceName>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM device_statuses
     WHERE last_seen_at < ?`,
  )
  const remove = database.prepare(
    'DELETE FROM device_statuses WHERE account_id = ? AND device_id = ? AND last_seen_at < ?',
  )

  return {
    find({ accountId, deviceId }) {
      const row = find.get(accountId, deviceId)
      return row && status(row)
    },
    // No deviceId is empty: everything stands after ''.
    page: ({ accountId, limit, after = '' }) => page.all(accountId, after, limit).map(status),
    accountAfter: (accountId) => accountAfter.get(accountId)?.next ?? undefined,
    save(status) {
      save.run(
        status.accountId,
        status.deviceId,
        status.firstSeenAt,
        status.lastSeenAt,
        status.reportCount,
        JSON.stringify(status.lastPosition),
        JSON.stringify(status.applied),
      )
    },
    notSeenSince: (time) => notSeenSince.all(time),
    removeUnlessSeenSince: ({ accountId, deviceId }, time) =>
      remove.run(accountId, deviceId, time) === 1,
  }
}

function status(row: Row): DeviceStatus {
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    reportCount: row.report_count,
    lastPosition: JSON.parse(row.last_position) as LastPosition,
    applied: JSON.parse(row.applied) as Offsets,
  }
}
