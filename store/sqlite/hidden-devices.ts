import { randomUUID } from 'node:crypto'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Erasures } from '../read-models.ts'
import type { DeviceName } from './device-statuses.ts'
import type { SqliteReadModels } from './read-models.ts'

/** The read models, reduced to the erasures they have applied. */
type Applying = Pick<SqliteReadModels, 'erasures'>

export type HiddenDevices = {
  hide(erasure: DeviceErased): void
  /** Whether this very erasure is applied. */
  has(erasure: DeviceErased): boolean
  /** Looks up erasures that the read models have applied, and removes them if `may` then agrees. */
  sweepApplied(readModels: Applying, may?: () => boolean): void
  isHidden(device: DeviceName, readModels: Applying): boolean
  /** The hidden devices of an account. */
  of(accountId: string, readModels: Applying): string[]
  /** The times of a device's unapplied erasures. */
  times(device: DeviceName, readModels: Applying): number[]
  /**
   * Call this before the read models forget the erasures they applied, or these would hide devices
   * again.
   */
  remove(erasedBefore: number): void
}

type Row = { readonly event_id: string; readonly device_id: string; readonly erased_at: number }

/**
 * Devices erased by operators. Each is hidden until the current read models have applied that very
 * erasure; after that its row is unused, and is removed with the next one.
 */
export function sqliteHiddenDevices(accounts: Database): HiddenDevices {
  const insert = accounts.prepare('INSERT OR IGNORE INTO hidden_devices VALUES (?, ?, ?, ?)')
  const ofDevice = accounts.prepare<Row>(
    'SELECT * FROM hidden_devices WHERE account_id = ? AND device_id = ?',
  )
  const ofAccount = accounts.prepare<Row>('SELECT * FROM hidden_devices WHERE account_id = ?')
  const one = accounts.prepare<Row>('SELECT * FROM hidden_devices WHERE event_id = ?')
  const all = accounts.prepare<Row>('SELECT * FROM hidden_devices')
  const remove = accounts.prepare('DELETE FROM hidden_devices WHERE event_id = ?')
  const removeOld = accounts.prepare('DELETE FROM hidden_devices WHERE erased_at < ?')

  return {
    hide({ eventId, accountId, deviceId, erasedAt }) {
      insert.run(eventId, accountId, deviceId, erasedAt)
    },

    has: ({ eventId }) => one.get(eventId) !== undefined,

    sweepApplied({ erasures }, may = () => true) {
      accounts.transaction(() => {
        const applied = all.all().filter(({ event_id }) => erasures.isApplied(event_id))
        if (applied.length === 0 || !may()) return
        for (const { event_id } of applied) remove.run(event_id)
      })
    },

    isHidden: (device, readModels) => pendingOf(device, readModels).length > 0,

    of: (accountId, { erasures }) =>
      ofAccount
        .all(accountId)
        .filter(({ event_id }) => !erasures.isApplied(event_id))
        .map(({ device_id }) => device_id),

    times: (device, readModels) => pendingOf(device, readModels).map(({ erased_at }) => erased_at),

    remove(erasedBefore) {
      removeOld.run(erasedBefore)
    },
  }

  function pendingOf({ accountId, deviceId }: DeviceName, { erasures }: Applying): Row[] {
    return ofDevice.all(accountId, deviceId).filter(({ event_id }) => !erasures.isApplied(event_id))
  }
}

export type DeviceLives = Pick<Erasures, 'livesOf'> & {
  /** The current life of a device that has been erased. */
  of(device: DeviceName): string | undefined
  /**
   * Removes the settings of an erased device; changes that belong to its previous life are
   * rejected.
   */
  begin(erasure: DeviceErased): void
  /** Forgets the lives of devices erased before a time, if nothing is set for them. */
  remove(erasedBefore: number): void
}

/** Devices looked up per event-loop turn, which takes some milliseconds. */
const FOUND_AT_ONCE = 5_000

/** CROSS: looks up each device, however many others there are. */
const LIVES_OF_DEVICES = `SELECT device_id, life FROM json_each(?2)
  CROSS JOIN device_settings ON account_id = ?1 AND device_id = value WHERE life IS NOT NULL`

/**
 * Stores lives in the settings table, so that one transaction compares the life and changes the
 * rest.
 */
export function sqliteDeviceLives(database: Database): DeviceLives {
  const find = database.prepare<{ life: string | null }>(
    'SELECT life FROM device_settings WHERE account_id = ? AND device_id = ?',
  )
  const findAll = database.prepare<{ device_id: string; life: string }>(LIVES_OF_DEVICES)
  const begin = database.prepare(
    `INSERT INTO device_settings (account_id, device_id, disabled, changed_at, life)
     VALUES (?, ?, 0, ?, ?) ON CONFLICT (account_id, device_id) DO UPDATE SET
       name = NULL, disabled = 0, expected_interval_seconds = NULL, labels = NULL, enabled_at = NULL,
       changed_at = max(changed_at, excluded.changed_at), life = excluded.life`,
  )
  const remove = database.prepare(
    `DELETE FROM device_settings WHERE life IS NOT NULL AND changed_at < ? AND disabled = 0
       AND name IS NULL AND expected_interval_seconds IS NULL AND labels IS NULL`,
  )
  // Removes changes that all processes following them have seen.
  const removeChanges = database.prepare(
    `DELETE FROM settings_changes WHERE at < unixepoch() - 86400 AND NOT EXISTS (
       SELECT 1 FROM device_settings AS settings
       WHERE settings.account_id = settings_changes.account_id
         AND settings.device_id = settings_changes.device_id)`,
  )

  return {
    of: ({ accountId, deviceId }) => find.get(accountId, deviceId)?.life ?? undefined,

    async livesOf({ accountId, deviceIds }) {
      const found = new Map<string, string>()
      for (let at = 0; at < deviceIds.length; at += FOUND_AT_ONCE) {
        if (at > 0) await endOfTurn()
        const some = JSON.stringify(deviceIds.slice(at, at + FOUND_AT_ONCE))
        for (const { device_id, life } of findAll.all(accountId, some)) found.set(device_id, life)
      }
      return found
    },

    begin({ accountId, deviceId, erasedAt }) {
      // Later than the erasure, so that a redelivery of its event does not remove settings made
      // from now on.
      begin.run(accountId, deviceId, erasedAt + 1, randomUUID())
    },

    remove(erasedBefore) {
      remove.run(erasedBefore)
      removeChanges.run()
    },
  }
}
