export type RecentIds = {
  has(id: string): boolean
  /** `device` is whose event it is: account and device. */
  add(id: string, device: string): void
  /** Forgets the ids of a device: what comes of it now is no repeat. */
  forget(device: string): void
}

/**
 * Remembers the last `limit` ids, so that memory stays bounded. A repeat that comes after more
 * than `limit` other ids, or after a restart, is not known any more: where that matters, write what
 * you make of an event under its id (an upsert, a unique key), which no repeat can get past.
 */
export function recentIds(limit: number): RecentIds {
  const devices = new Map<string, string>()
  return {
    has: (id) => devices.has(id),
    add(id, device) {
      devices.set(id, device)
      if (devices.size <= limit) return
      // A map keeps the order of insertion.
      for (const oldest of devices.keys()) {
        devices.delete(oldest)
        return
      }
    },
    forget(device) {
      for (const [id, of] of devices) if (of === device) devices.delete(id)
    },
  }
}
