import { measured } from '../../schemas/position-reported.ts'
import type { DeviceStatus, LastPosition, Offsets } from '../../schemas/read-models.ts'
import type { DeviceCounts, DevicePage, Devices } from '../read-models.ts'
import type { Database, Statement } from '../../runtime/sqlite/database.ts'
import { deviceCounts, devicePage } from './device-page.ts'

export type DeviceName = { readonly accountId: string; readonly deviceId: string }

export type DeviceStatuses = {
  find(device: DeviceName): DeviceStatus | undefined
  /** A page without the devices in `hidden`. */
  page(query: DevicePage, hidden?: readonly string[]): DeviceStatus[]
  /** Those of an account, without the devices in `hidden`. */
  count(query: Parameters<Devices['countDevices']>[0], hidden: readonly string[]): DeviceCounts
  /** The next account after this one that has a status. */
  accountAfter(accountId: string): string | undefined
  save(status: DeviceStatus): void
  notSeenSince(time: number): DeviceName[]
  remove(device: DeviceName): void
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
  readonly heartbeats: string | null
}

const NONE: DeviceCounts = { total: 0, online: 0, idle: 0, offline: 0, disabled: 0 }

export function sqliteDeviceStatuses(database: Database): DeviceStatuses {
  const find = database.prepare<Row>(
    'SELECT * FROM device_statuses WHERE account_id = ? AND device_id = ?',
  )
  // One per kind of page requested; there are few.
  const pages = new Map<string, Statement<Row>>()
  const accountAfter = database.prepare<{ next: string | null }>(
    'SELECT min(account_id) AS next FROM device_statuses WHERE account_id > ?',
  )
  // Not REPLACE, which removes the row and makes it anew.
  const save = database.prepare(
    `INSERT INTO device_statuses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET
       first_seen_at = excluded.first_seen_at,
       last_seen_at = excluded.last_seen_at,
       report_count = excluded.report_count,
       last_position = excluded.last_position,
       applied = excluded.applied,
       latitude = excluded.latitude,
       longitude = excluded.longitude,
       heartbeats = excluded.heartbeats`,
  )
  const notSeenSince = database.prepare<DeviceName>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM device_statuses
     WHERE last_seen_at < ?`,
  )
  const remove = database.prepare(
    'DELETE FROM device_statuses WHERE account_id = ? AND device_id = ?',
  )
  const removeUnlessSeenSince = database.prepare(
    'DELETE FROM device_statuses WHERE account_id = ? AND device_id = ? AND last_seen_at < ?',
  )

  return {
    find({ accountId, deviceId }) {
      const row = find.get(accountId, deviceId)
      return row && status(row)
    },
    page(query, hidden = []) {
      const { sql, values } = devicePage(query, hidden)
      let statement = pages.get(sql)
      if (statement === undefined) {
        statement = database.prepare<Row>(sql)
        pages.set(sql, statement)
      }
      return statement.all(...values).map(status)
    },
    count(query, hidden) {
      const { sql, values } = deviceCounts(query, hidden)
      const [counts] = database.prepare<DeviceCounts>(sql).all(...values)
      return counts ?? NONE
    },
    accountAfter: (accountId) => accountAfter.get(accountId)?.next ?? undefined,
    save(status) {
      save.execute(
        status.accountId,
        status.deviceId,
        status.firstSeenAt,
        status.lastSeenAt,
        status.reportCount,
        encoded(status.lastPosition),
        encodedOffsets(status.applied),
        status.lastPosition.latitude,
        status.lastPosition.longitude,
        status.heartbeats === undefined ? null : JSON.stringify(status.heartbeats),
      )
    },
    remove({ accountId, deviceId }) {
      remove.run(accountId, deviceId)
    },
    notSeenSince: (time) => notSeenSince.all(time),
    removeUnlessSeenSince: ({ accountId, deviceId }, time) =>
      removeUnlessSeenSince.run(accountId, deviceId, time) === 1,
  }
}

/** As `JSON.stringify` has it, in less than half its time. */
function encoded(position: LastPosition): string {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  return (
    `{"recordId":"${recordId}","latitude":${latitude},"longitude":${longitude}` +
    `,"timestamp":${timestamp},"receivedAt":${receivedAt}${measured(position)}}`
  )
}

function encodedOffsets(offsets: Offsets): string {
  let fields = ''
  for (const partition in offsets) fields += `${fields && ','}"${partition}":${offsets[partition]}`
  return `{${fields}}`
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
    ...(row.heartbeats !== null && {
      heartbeats: JSON.parse(row.heartbeats) as NonNullable<DeviceStatus['heartbeats']>,
    }),
  }
}
