import { LRUCache } from 'lru-cache'
import type { Database } from '../../runtime/sqlite/database.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { DeviceName, DeviceStatuses } from './device-statuses.ts'
import type { AppliedErasures, StoredErasure, ErasureTime } from './erasures.ts'

const REMEMBERED = 50_000

/** A device's rows in the tables. */
export type KnownDevice = {
  /** The device's number; for a device without a status, the one it gets with its first status. */
  readonly number: number
  readonly account: number
  status: DeviceStatus | undefined
  readonly erasures: readonly ErasureTime[]
}

export type RememberedDevices = {
  /** `key`: the device's key. */
  find(device: DeviceName, key: string): KnownDevice
  save(known: KnownDevice, status: DeviceStatus): void
  remove(known: KnownDevice, device: DeviceName): void
  begin(erasure: StoredErasure): void
  apply(erasure: StoredErasure): void
  /** Call at the start of a write transaction. */
  refresh(): void
  /** Call when a transaction has failed, or the tables were changed in another way. */
  forget(): void
}

/**
 * The tables of devices as the projection uses them, with a cache of the rows last read or written,
 * because every event of a device needs them. The cache is emptied when another connection has
 * written the file.
 */
export function rememberDevices(
  database: Database,
  { statuses, erasures }: { statuses: DeviceStatuses; erasures: AppliedErasures },
): RememberedDevices {
  const dataVersion = database.prepare<{ data_version: number }>('PRAGMA data_version')
  // With `max` the cache would allocate all its memory at the start, which takes longer than
  // opening a small file.
  const devices = new LRUCache<string, KnownDevice>({
    maxSize: REMEMBERED,
    sizeCalculation: () => 1,
  })
  let version: number | undefined
  let greatest: number | undefined
  const accounts = new Map<string, number>()

  function newNumber(): number {
    greatest = (greatest ?? statuses.greatestNumber()) + 1
    return greatest
  }

  function accountNumber(accountId: string): number {
    const number = accounts.get(accountId) ?? statuses.accountNumber(accountId)
    accounts.set(accountId, number)
    return number
  }

  function forget(): void {
    devices.clear()
    accounts.clear()
    greatest = undefined
  }

  return {
    find(device, key) {
      let known = devices.get(key)
      if (known === undefined) {
        const row = statuses.find(device)
        const number = row?.number ?? newNumber()
        known = {
          number,
          account: accountNumber(device.accountId),
          status: row?.status,
          erasures: erasures.times(device),
        }
        devices.set(key, known)
      }
      return known
    },

    save(known, status) {
      const { number } = known
      if (known.status === undefined) statuses.insert({ number, status })
      else statuses.update({ number, status }, known.status)
      known.status = status
    },

    remove(known, device) {
      statuses.remove(device)
      known.status = undefined
      devices.delete(deviceKey(device))
    },

    begin(erasure) {
      erasures.begin(erasure)
      devices.delete(deviceKey(erasure.event))
    },

    apply(erasure) {
      erasures.apply(erasure)
      devices.delete(deviceKey(erasure.event))
    },

    refresh() {
      const now = dataVersion.get()?.data_version
      if (now !== version) forget()
      version = now
    },

    forget,
  }
}
