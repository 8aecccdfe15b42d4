import type { DeviceErased } from '../../schemas/device-erased.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import type { DeviceName } from './device-statuses.ts'
import type { SqliteReadModels } from './read-models.ts'

/** Read models, reduced to which erasures they have applied. */
type Applying = Pick<SqliteReadModels, 'erasures'>

export type HiddenDevices = {
  hide(erasure: DeviceErased): void
  /** Whether this very erasure is here. */
  has(erasure: DeviceErased): boolean
  /** Removes erasures that the read models have applied, if `may`, called after that look-up, agrees. */
  sweepApplied(readModels: Applying, may?: () => boolean): void
  isHidden(device: DeviceName, readModels: Applying): boolean
  /** The hidden devices of an account. */
  of(accountId: string, readModels: Applying): string[]
  /** The times of a device's erasures that are not applied. */
  times(device: DeviceName, readModels: Applying): number[]
  /** Call this before the read models forget the erasures they applied, or these would hide devices again. */
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
