import { hasReached } from '../../event-log/offsets.ts'
import type { sqliteGenerations } from './generations.ts'
import type { SqliteReadModels } from './read-models.ts'

const LOOK_EVERY_MS = 200
/** After this the older read models are useless: no process projects into them. */
const FOLLOW_WITHIN_MS = 1_000

export type FollowedReadModels = {
  /** The current read models; not to be kept across turns of the event loop. */
  current(): SqliteReadModels
  generation(): number
  close(): void
}

/**
 * The current read models, looked up again from time to time. A newer generation is used once it
 * has caught up with the old one, so that nothing disappears for a moment.
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
