import type { DeviceSettings } from '../../schemas/read-models.ts'
import type { Devices } from '../store.ts'
import type { Database } from './database.ts'
import type { DeviceName } from './device-statuses.ts'

export type SettingsOfDevices = Pick<Devices, 'changeDeviceSettings'> & {
  find(device: DeviceName): DeviceSettings
  /** The settings that operators made for devices from `first` to `last`, both included. */
  between(query: { accountId: string; first: string; last: string }): Map<string, DeviceSettings>
  disabledDevices(accountId: string): Set<string>
  remove(devices: readonly DeviceName[]): void
}

/** What holds for a device of which operators have said nothing. */
export const DEFAULT_SETTINGS: DeviceSettings = { disabled: false }

type Row = {
  readonly device_id: string
  readonly name: string | null
  readonly disabled: number
  readonly expected_interval_seconds: number | null
}

export function sqliteDeviceSettings(database: Database): SettingsOfDevices {
  const find = database.prepare<Row>(
    'SELECT * FROM device_settings WHERE account_id = ? AND device_id = ?',
  )
  const between = database.prepare<Row>(
    'SELECT * FROM device_settings WHERE account_id = ? AND device_id BETWEEN ? AND ?',
  )
  const disabled = database.prepare<{ device_id: string }>(
    'SELECT device_id FROM device_settings WHERE account_id = ? AND disabled = 1',
  )
  const save = database.prepare('REPLACE INTO device_settings VALUES (?, ?, ?, ?, ?)')
  const remove = database.prepare(
    'DELETE FROM device_settings WHERE account_id = ? AND device_id = ?',
  )

  function findSettings({ accountId, deviceId }: DeviceName): DeviceSettings {
    const row = find.get(accountId, deviceId)
    return row === undefined ? DEFAULT_SETTINGS : settings(row)
  }

  return {
    find: findSettings,

    between({ accountId, first, last }) {
      const rows = between.all(accountId, first, last)
      return new Map(rows.map((row) => [row.device_id, settings(row)]))
    },

    disabledDevices: (accountId) =>
      new Set(disabled.all(accountId).map(({ device_id }) => device_id)),

    remove(devices) {
      if (devices.length === 0) return
      database.transaction(() => {
        for (const { accountId, deviceId } of devices) remove.run(accountId, deviceId)
      })
    },

    changeDeviceSettings: async (change) =>
      database.transaction(() => {
        const { accountId, deviceId } = change
        const before = findSettings(change)
        save.run(
          accountId,
          deviceId,
          changed(before.name, change.name),
          Number(change.disabled ?? before.disabled),
          changed(before.expectedIntervalSeconds, change.expectedIntervalSeconds),
        )
        return findSettings(change)
      }),
  }
}

function changed<T>(before: T | undefined, change: T | null | undefined): T | null {
  return change === undefined ? (before ?? null) : change
}

function settings(row: Row): DeviceSettings {
  return {
    ...(row.name !== null && { name: row.name }),
    disabled: row.disabled === 1,
    ...(row.expected_interval_seconds !== null && {
      expectedIntervalSeconds: row.expected_interval_seconds,
    }),
  }
}
