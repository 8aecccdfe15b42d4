import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import type { ChangesPage, ChangesQuery } from '../definitions.ts'
import { hasSettings, type WatchSettings } from '../facts.ts'
import { labelsIn } from './device-labels.ts'

type ChangeRow = {
  readonly version: number
  readonly at: number
  readonly account_id: string
  readonly device_id: string
  /** Null: the device has no settings any longer. */
  readonly disabled: number | null
  readonly enabled_at: number | null
  readonly expected_interval_seconds: number | null
  readonly labels: string | null
  readonly labels_changed_at: number | null
  readonly changed_at: number
}

const READ_AT_ONCE = 500

/** The settings that judging depends on, in the order of their changes. */
export function sqliteWatchSettings(
  accounts: Database,
): (query: ChangesQuery) => ChangesPage<WatchSettings> {
  const changes = accounts.prepare<ChangeRow>(
    `SELECT version, at, account_id, device_id, disabled, enabled_at, expected_interval_seconds,
       labels, labels_changed_at, changed_at
     FROM settings_changes LEFT JOIN device_settings USING (account_id, device_id)
     WHERE version > ? ORDER BY version LIMIT ${READ_AT_ONCE}`,
  )

  return ({ after, isKnown }) => {
    const rows = changes.all(after)
    return {
      changes: rows.flatMap((row) => {
        const { version, at } = row
        const settings = watchedIn(row)
        const id = deviceKey(settings)
        if (isKnown(id, version)) return []
        const change = { id, version, changedAt: at * 1_000 }
        return [hasSettings(settings) ? { ...change, definition: settings } : change]
      }),
      last: rows.at(-1)?.version ?? after,
      isEnd: rows.length < READ_AT_ONCE,
    }
  }
}

function watchedIn(row: ChangeRow): WatchSettings {
  const { expected_interval_seconds: expectedIntervalSeconds, enabled_at: enabledSince } = row
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    disabled: row.disabled === 1,
    ...(enabledSince !== null && { enabledSince }),
    ...(expectedIntervalSeconds !== null && { expectedIntervalSeconds }),
    ...(row.labels !== null && {
      labels: labelsIn(row.labels),
      labelledSince: row.labels_changed_at ?? row.changed_at,
    }),
  }
}
