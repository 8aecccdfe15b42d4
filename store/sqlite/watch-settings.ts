import { deviceKey } from '../../schemas/position-reported.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import type { WatchSettings } from '../facts.ts'
import { labelsIn } from './device-labels.ts'

type SettingsRow = {
  readonly account_id: string
  readonly device_id: string
  readonly disabled: number
  readonly expected_interval_seconds: number | null
}
type LabelledRow = SettingsRow & { readonly labels: string; readonly changed_at: number }

/** The settings that decide when a device is silent, and with `labels` which definitions it has. */
export function sqliteWatchSettings(
  accounts: Database,
): (query: { readonly labels: boolean }) => WatchSettings[] {
  const labelled = accounts.prepare<LabelledRow>(
    `SELECT account_id, device_id, disabled, expected_interval_seconds, labels, changed_at
     FROM device_settings WHERE labels IS NOT NULL`,
  )
  const settings = accounts.prepare<SettingsRow>(
    `SELECT account_id, device_id, disabled, expected_interval_seconds FROM device_settings
     WHERE disabled = 1
     UNION SELECT account_id, device_id, disabled, expected_interval_seconds FROM device_settings
     WHERE expected_interval_seconds IS NOT NULL`,
  )

  return ({ labels }) => {
    const watched = settings.all().map(watchedIn)
    if (!labels) return watched
    const known = labelled.all().map((row): WatchSettings => ({
      ...watchedIn(row),
      labels: labelsIn(row.labels),
      changedAt: row.changed_at,
    }))
    const ids = new Set(known.map(deviceKey))
    return [...watched.filter((device) => !ids.has(deviceKey(device))), ...known]
  }
}

function watchedIn(row: SettingsRow): WatchSettings {
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    disabled: row.disabled === 1,
    ...(row.expected_interval_seconds !== null && {
      expectedIntervalSeconds: row.expected_interval_seconds,
    }),
  }
}
