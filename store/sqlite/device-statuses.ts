import type { Readings } from '../../schemas/devices/device-readings.ts'
import type { DeviceStatus, Offsets } from '../../schemas/devices/read-models.ts'
import type { Database, Statement, Value } from '../../runtime/sqlite/database.ts'
import type { Selection } from './device-rows.ts'
import { OPTIONAL_NAMES, readOptionalFields, optionalValues } from './record-rows.ts'

export type DeviceName = { readonly accountId: string; readonly deviceId: string }

/** A device's status, and the number that identifies the device in its records. */
export type NumberedStatus = { readonly number: number; readonly status: DeviceStatus }

export type DeviceStatuses = {
  find(device: DeviceName): NumberedStatus | undefined
  /** Returns a page of an account's statuses by deviceId, after the previous page's last one. */
  page(query: { accountId: string; after?: string; limit: number }): DeviceStatus[]
  /** The rows of a statement from `device-rows`, as arrays. */
  select<Row>(selection: Selection): Row[]
  /** Returns the next account with a status. */
  accountAfter(accountId: string): string | undefined
  /** The highest number that any device has ever had. */
  greatestNumber(): number
  /** Returns an account's number; assigns one if needed. */
  accountNumber(accountId: string): number
  insert(device: NumberedStatus): void
  /** `before`: the status currently in the table. */
  update(device: NumberedStatus, before: DeviceStatus): void
  /** The devices from which nothing has been received since. */
  silentSince(time: number): DeviceName[]
  remove(device: DeviceName): void
  /**
   * Removes the status unless something has been received from the device since, or it has a
   * record.
   */
  removeIfSilentSince(device: DeviceName, time: number): boolean
}

/** All columns, as an array: pages of many devices are read. */
type Row = readonly [
  number: number,
  accountId: string,
  deviceId: string,
  lastKeyId: string,
  firstSeenAt: number,
  lastSeenAt: number,
  lastReceivedAt: number,
  reportCount: number,
  recordId: string,
  latitude: number,
  longitude: number,
  timestamp: number,
  receivedAt: number,
  applied: string,
  heartbeats: string | null,
  lastKeyEventId: string | null,
  ...optional: unknown[],
]
const FIRST_OPTIONAL = 16
const LAST_PARTITION = FIRST_OPTIONAL + OPTIONAL_NAMES.length
const LAST_KEY_AT = LAST_PARTITION + 2
const READINGS = LAST_KEY_AT + 1

/** The columns that change with each report, in their order. */
const CHANGING = [
  ...[
    'first_seen_at',
    'last_seen_at',
    'last_received_at',
    'report_count',
    'record_id',
    'latitude',
    'longitude',
  ],
  ...['timestamp', 'received_at', 'applied', 'heartbeats', 'last_key_event_id'],
  ...OPTIONAL_NAMES,
  ...['last_partition', 'last_offset', 'last_key_at', 'readings'],
]

/**
 * Records find their device through its status, so the status remains if a record was projected
 * late.
 */
const REMOVE_SILENT = `DELETE FROM device_statuses
  WHERE account_id = ? AND device_id = ? AND last_received_at < ?
    AND NOT EXISTS (SELECT 1 FROM records WHERE device = number)`

export function sqliteDeviceStatuses(database: Database): DeviceStatuses {
  const find = database.prepare<Row>(
    'SELECT * FROM device_statuses WHERE account_id = ? AND device_id = ?',
    { asArrays: true },
  )
  const page = database.prepare<Row>(
    'SELECT * FROM device_statuses WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?',
    { asArrays: true },
  )
  // One prepared statement per kind of page; there are few kinds.
  const selections = new Map<string, Statement<unknown>>()
  const accountAfter = database.prepare<{ next: string | null }>(
    'SELECT min(account_id) AS next FROM device_statuses WHERE account_id > ?',
  )
  const greatestNumber = database.prepare<{ seq: number }>(
    `SELECT seq FROM sqlite_sequence WHERE name = 'device_statuses'`,
  )
  const accountNumber = database.prepare<{ number: number }>(
    `INSERT INTO account_numbers (account_id) VALUES (?)
     ON CONFLICT DO UPDATE SET number = number RETURNING number`,
  )
  const insert = database.prepare(
    `INSERT INTO device_statuses VALUES (?, ?, ?, ?, ${CHANGING.map(() => '?').join(', ')})`,
  )
  const changes = CHANGING.map((column) => `${column} = ?`).join(', ')
  const update = database.prepare(`UPDATE device_statuses SET ${changes} WHERE number = ?`)
  // SQLite writes the index of a column that is set, even to the same value.
  const updateWithKey = database.prepare(
    `UPDATE device_statuses SET ${changes}, last_key_id = ? WHERE number = ?`,
  )
  const silentSince = database.prepare<DeviceName>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM device_statuses
     WHERE last_received_at < ?`,
  )
  const remove = database.prepare(
    'DELETE FROM device_statuses WHERE account_id = ? AND device_id = ?',
  )
  const removeIfSilentSince = database.prepare(REMOVE_SILENT)

  return {
    find({ accountId, deviceId }) {
      const row = find.get(accountId, deviceId)
      if (row === undefined) return undefined
      const [number] = row
      return { number, status: status(row) }
    },
    page: ({ accountId, after = '', limit }) => page.all(accountId, after, limit).map(status),
    select<Row>({ sql, values }: Selection) {
      const statement = selections.get(sql) ?? database.prepare<unknown>(sql, { asArrays: true })
      selections.set(sql, statement)
      return statement.all(...values) as Row[]
    },
    accountAfter: (accountId) => accountAfter.get(accountId)?.next ?? undefined,
    greatestNumber: () => greatestNumber.get()?.seq ?? 0,
    accountNumber(accountId) {
      const row = accountNumber.get(accountId)
      if (row === undefined) throw new Error('an account got no number')
      return row.number
    },
    insert({ number, status }) {
      const { accountId, deviceId, lastKeyId } = status
      insert.execute(number, accountId, deviceId, lastKeyId, ...changingValues(status))
    },
    update({ number, status }, before) {
      const { lastKeyId } = status
      if (lastKeyId === before.lastKeyId) update.execute(...changingValues(status), number)
      else updateWithKey.execute(...changingValues(status), lastKeyId, number)
    },
    remove({ accountId, deviceId }) {
      remove.run(accountId, deviceId)
    },
    silentSince: (time) => silentSince.all(time),
    removeIfSilentSince: ({ accountId, deviceId }, time) =>
      removeIfSilentSince.run(accountId, deviceId, time) === 1,
  }
}

/** The values of the columns that change with each report. */
function changingValues(status: DeviceStatus): readonly Value[] {
  const { lastPosition, lastOrigin, lastKeyAt, lastKeyEventId, heartbeats, readings } = status
  return [
    status.firstSeenAt,
    status.lastSeenAt,
    status.lastReceivedAt,
    status.reportCount,
    lastPosition.recordId,
    lastPosition.latitude,
    lastPosition.longitude,
    lastPosition.timestamp,
    lastPosition.receivedAt,
    encodeOffsets(status.applied),
    heartbeats === undefined ? null : JSON.stringify(heartbeats),
    lastKeyEventId === lastPosition.recordId ? null : lastKeyEventId,
    ...optionalValues(lastPosition),
    lastOrigin?.partition ?? null,
    lastOrigin?.offset ?? null,
    lastKeyAt === status.lastReceivedAt ? null : lastKeyAt,
    readings === undefined ? null : JSON.stringify(readings),
  ]
}

function encodeOffsets(offsets: Offsets): string {
  let fields = ''
  for (const partition in offsets) fields += `${fields && ','}"${partition}":${offsets[partition]}`
  return `{${fields}}`
}

function status(row: Row): DeviceStatus {
  const [
    ,
    accountId,
    deviceId,
    lastKeyId,
    firstSeenAt,
    lastSeenAt,
    lastReceivedAt,
    reportCount,
    recordId,
    latitude,
    longitude,
    timestamp,
    receivedAt,
    applied,
    heartbeats,
    lastKeyEventId,
  ] = row
  const partition = row[LAST_PARTITION] as number | null
  const readings = row[READINGS] as string | null
  return {
    accountId,
    deviceId,
    firstSeenAt,
    lastSeenAt,
    lastReceivedAt,
    lastKeyAt: (row[LAST_KEY_AT] as number | null) ?? lastReceivedAt,
    lastKeyEventId: lastKeyEventId ?? recordId,
    lastKeyId,
    reportCount,
    lastPosition: {
      recordId,
      latitude,
      longitude,
      timestamp,
      receivedAt,
      ...readOptionalFields(row, FIRST_OPTIONAL),
    },
    ...(partition !== null && {
      lastOrigin: { partition, offset: row[LAST_PARTITION + 1] as number },
    }),
    applied: JSON.parse(applied) as Offsets,
    ...(heartbeats !== null && {
      heartbeats: JSON.parse(heartbeats) as NonNullable<DeviceStatus['heartbeats']>,
    }),
    ...(readings !== null && { readings: JSON.parse(readings) as Readings }),
  }
}
