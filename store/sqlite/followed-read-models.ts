import { hasReached } from '../../event-log/offsets.ts'
import type { sqliteGenerations } from './generations.ts'
import type { SqliteReadModels } from './read-models.ts'

const LOOK_EVERY_MS = 200
/** Beyond that the older read models are of no use any more: nobody carries the log into them. */
const FOLLOW_WITHIN_MS = 1_000

export type FollowedReadModels = {
  /** The read models in use; not to be kept over a turn of the event loop. */
  current(): SqliteReadModels
  /** The generation that they are. */
  generation(): number
  close(): void
}

/**
 * The read models in use, looked up anew every now and then. A newer generation is taken as soon as
 * it has come as far as the one before, so that what could be read does not vanish for a moment.
 */
export function followedReadModels(
  generations: ReturnType<typeof sqliteGenerations>,
  settingsFile: string,
): FollowedReadModels {
  let used = generations.openInUse({ settingsFile })
  let lookedAt = performance.now()
  let next: { generation: number; readModels: SqliteReadModels; since: number } | undefined

  function follow(now: number): void {
    const generation = generations.inUse()
    if (generation === used.generation) return
    if (next?.generation !== generation) {
      next?.readModels.close()
      next = { generation, readModels: generations.open(generation, { settingsFile }), since: now }
    }
    const { readModels, since } = next
    const late = now - since > FOLLOW_WITHIN_MS
    if (!late && !hasReached(readModels.checkpoint(), used.readModels.checkpoint())) return
    used.readModels.close()
    used = { generation, readModels }
    next = undefined
  }

  return {
    current() {
      const now = performance.now()
      if (now - lookedAt >= LOOK_EVERY_MS || next !== undefined) {
        follow(now)
        lookedAt = now
      }
      return used.readModels
    },

    generation: () => used.generation,

    close() {
      next?.readModels.close()
      used.readModels.close()
    },
  }
}
