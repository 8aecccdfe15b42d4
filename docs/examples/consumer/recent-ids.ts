export type RecentIds = {
  has(id: string): boolean
  /** `device` is the event's account and device. */
  add(id: string, device: string): void
  /** Forgets the ids of a device: its later events are not repeats. */
  forget(device: string): void
}

/**
 * Remembers the last `limit` ids, so that memory stays bounded. It does not recognise a repeat after
 * more than `limit` other ids, or after a restart. If that matters, store results under the event's
 * id (an upsert, a unique key).
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
