import { setTimeout as pause } from 'node:timers/promises'
import { furthest } from '../event-log/offsets.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'
import type { Generation } from '../store/generations.ts'
import { WentBackError } from '../store/read-models.ts'

const LOOK_EVERY_MS = 2_000

/** The places that a projector has reached in its read models, and whether these are still there. */
export type ProjectorProgress = {
  /** The checkpoint, from which the log continues. */
  resumeAfter(): Promise<Offsets>
  reached(batch: { readonly partition: number; readonly lastOffset: number }): void
  /**
   * Looks from time to time, because nothing else notices while there is nothing to project. Resolves
   * when `signal` is aborted.
   * @throws {WentBackError} when the checkpoint is behind a place that was reached.
   */
  watch(signal: AbortSignal): Promise<void>
}

export function progressIn(
  readModels: Pick<Generation, 'checkpoint'>,
  { lookEveryMs = LOOK_EVERY_MS }: { lookEveryMs?: number } = {},
): ProjectorProgress {
  let places: Offsets = {}

  return {
    async resumeAfter() {
      places = await readModels.checkpoint()
      return places
    },

    reached({ partition, lastOffset }) {
      places = furthest(places, { [partition]: lastOffset })
    },

    async watch(signal) {
      while (!signal.aborted) {
        await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) return
        const known = Object.entries(places)
        // While the store is unavailable it cannot be compared.
        const found = await readModels.checkpoint().catch(() => undefined)
        if (found === undefined) continue
        for (const [partition, from] of known) {
          const to = found[Number(partition)] ?? -1
          if (to < from) throw new WentBackError(Number(partition), { from, to })
        }
      }
    },
  }
}
