export type RecentIds = {
  has(id: string): boolean
  add(id: string): void
}

/**
 * Remembers the last `limit` ids, so that memory stays bounded. A repeat that comes after more
 * than `limit` other ids, or after a restart, is not known any more: where that matters, write what
 * you make of an event under its id (an upsert, a unique key), which no repeat can get past.
 */
export function recentIds(limit: number): RecentIds {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id)
      if (ids.size <= limit) return
      // A set keeps the order of insertion.
      for (const oldest of ids) {
        ids.delete(oldest)
        return
      }
    },
  }
}
