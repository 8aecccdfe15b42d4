import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import { MOST_LABELS, applyLabelChange } from '../../schemas/devices/labels.ts'
import type { DeviceSettings } from '../../schemas/devices/read-models.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { isSameLife } from '../erasing-devices.ts'
import type { DeviceInterval, Devices, LabelledDevice } from '../read-models.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { parseLabels, labelText } from './device-labels.ts'
import type { DeviceLives } from './hidden-devices.ts'
import type { DeviceName } from './device-statuses.ts'

export type SettingsOfDevices = Pick<
  Devices,
  'changeDeviceSettings' | 'changeLabels' | 'devicesWithInterval'
> & {
  find(device: DeviceName): DeviceSettings
  /** The settings of these devices that operators have changed. */
  findAll(accountId: string, deviceIds: readonly string[]): Map<string, DeviceSettings>
  disabledDevices(accountId: string): Promise<string[]>
  /** A disabled device stays disabled. */
  remove(devices: readonly DeviceName[]): void
  /** Removes the settings of a device unless they were changed after its erasure. */
  forget(erasure: DeviceErased): void
}

/** The default settings of a device. */
export const DEFAULT_SETTINGS: DeviceSettings = { disabled: false }

const INTERVALS_AT_ONCE = 250
/**
 * Devices whose labels one transaction changes: all devices of a large call would block other work.
 */
const LABELLED_AT_ONCE = 250

type Row = {
  readonly device_id: string
  readonly name: string | null
  readonly disabled: number
  readonly expected_interval_seconds: number | null
  readonly changed_at: number
  readonly labels: string | null
  readonly labels_changed_at: number | null
  readonly enabled_at: number | null
}

/** CROSS: looks up each device, however many others there are. */
const SETTINGS_OF_DEVICES = `SELECT device_settings.* FROM json_each(?2)
  CROSS JOIN device_settings ON account_id = ?1 AND device_id = value`

export function sqliteDeviceSettings(database: Database, lives: DeviceLives): SettingsOfDevices {
  const find = database.prepare<Row>(
    'SELECT * FROM device_settings WHERE account_id = ? AND device_id = ?',
  )
  const findAll = database.prepare<Row>(SETTINGS_OF_DEVICES)
  const disabled = database.prepare<{ device_id: string }>(
    'SELECT device_id FROM device_settings WHERE account_id = ? AND disabled = 1',
  )
  const withInterval = database.prepare<DeviceInterval>(
    `SELECT device_id AS deviceId, expected_interval_seconds AS expectedIntervalSeconds
     FROM device_settings
     WHERE account_id = ? AND expected_interval_seconds IS NOT NULL AND device_id > ?
     ORDER BY device_id LIMIT ${INTERVALS_AT_ONCE}`,
  )
  const save = database.prepare(
    `REPLACE INTO device_settings (account_id, device_id, name, disabled, expected_interval_seconds,
       changed_at, labels, life, labels_changed_at, enabled_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const remove = database.prepare(
    `DELETE FROM device_settings
     WHERE account_id = ? AND device_id = ? AND disabled = 0 AND life IS NULL`,
  )
  const keepDisabled = database.prepare(
    `UPDATE device_settings SET name = NULL, expected_interval_seconds = NULL, labels = NULL
     WHERE account_id = ? AND device_id = ?`,
  )
  const forget = database.prepare(
    'DELETE FROM device_settings WHERE account_id = ? AND device_id = ? AND changed_at <= ?',
  )

  function findSettings({ accountId, deviceId }: DeviceName): DeviceSettings {
    const row = find.get(accountId, deviceId)
    return row === undefined ? DEFAULT_SETTINGS : settings(row)
  }

  /** Call this in a transaction. */
  function change({ accountId, deviceId, life, ...change }: Change): DeviceSettings | undefined {
    const current = lives.of({ accountId, deviceId })
    if (!isSameLife(life, current)) return undefined
    const row = find.get(accountId, deviceId)
    const before = row === undefined ? DEFAULT_SETTINGS : settings(row)
    // If the processes' clocks differ, the later time counts.
    const changedAt = Math.max(row?.changed_at ?? 0, change.changedAt)
    const disabled = change.disabled ?? before.disabled
    const labels = labelText(change.labels ?? before.labels ?? [])
    const isRelabelled = labels !== (row?.labels ?? null)
    const labelledAt = row?.labels_changed_at ?? row?.changed_at ?? null
    save.run(
      accountId,
      deviceId,
      applyChange(before.name, change.name),
      Number(disabled),
      applyChange(before.expectedIntervalSeconds, change.expectedIntervalSeconds),
      changedAt,
      labels,
      current ?? null,
      isRelabelled ? changedAt : labelledAt,
      before.disabled && !disabled ? changedAt : (row?.enabled_at ?? null),
    )
    return findSettings({ accountId, deviceId })
  }

  return {
    find: findSettings,

    findAll(accountId, deviceIds) {
      const rows = findAll.all(accountId, JSON.stringify(deviceIds))
      return new Map(rows.map((row) => [row.device_id, settings(row)]))
    },

    disabledDevices: async (accountId) => disabled.all(accountId).map(({ device_id }) => device_id),

    remove(devices) {
      if (devices.length === 0) return
      database.transaction(() => {
        for (const { accountId, deviceId } of devices) {
          if (remove.run(accountId, deviceId) === 0) keepDisabled.run(accountId, deviceId)
        }
      })
    },

    changeDeviceSettings: async (changes) => database.transaction(() => change(changes)),

    async changeLabels({ accountId, deviceIds, lives: read, changedAt, ...labelChange }) {
      const labelled: LabelledDevice[] = []
      for (let at = 0; at < deviceIds.length; at += LABELLED_AT_ONCE) {
        const some = deviceIds.slice(at, at + LABELLED_AT_ONCE)
        labelled.push(...database.transaction(() => some.map(relabel)))
        await endOfTurn()
      }
      return labelled

      function relabel(deviceId: string): LabelledDevice {
        const life = read?.get(deviceId)
        if (!isSameLife(life, lives.of({ accountId, deviceId }))) {
          return { deviceId, outcome: 'erased', labels: [] }
        }
        const { labels = [] } = findSettings({ accountId, deviceId })
        const newLabels = applyLabelChange(labels, labelChange)
        if (newLabels === labels) return { deviceId, outcome: 'unchanged', labels }
        if (newLabels.length > MOST_LABELS) return { deviceId, outcome: 'too many', labels }
        change({ accountId, deviceId, life, changedAt, labels: newLabels })
        return { deviceId, outcome: 'changed', labels: newLabels }
      }
    },

    forget({ accountId, deviceId, erasedAt }) {
      forget.run(accountId, deviceId, erasedAt)
    },

    async devicesWithInterval(accountId) {
      const intervals: DeviceInterval[] = []
      for (;;) {
        const page = withInterval.all(accountId, intervals.at(-1)?.deviceId ?? '')
        intervals.push(...page)
        if (page.length < INTERVALS_AT_ONCE) return intervals
        await endOfTurn()
      }
    },
  }
}

type Change = Parameters<Devices['changeDeviceSettings']>[0]

function applyChange<T>(before: T | undefined, change: T | null | undefined): T | null {
  return change === undefined ? (before ?? null) : change
}

function settings(row: Row): DeviceSettings {
  return {
    ...(row.name !== null && { name: row.name }),
    disabled: row.disabled === 1,
    ...(row.expected_interval_seconds !== null && {
      expectedIntervalSeconds: row.expected_interval_seconds,
    }),
    ...(row.labels !== null && { labels: parseLabels(row.labels) }),
  }
}
