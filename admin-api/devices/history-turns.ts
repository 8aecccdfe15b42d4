import { rateLimited } from '../../runtime/errors.ts'
import { Slots } from '../../runtime/limits/slots.ts'

const AT_ONCE = 2

/**
 * Reads whole histories for a few callers at a time; the accounts take turns. A call that has
 * waited too long gets a 429.
 */
export type HistoryTurns = Pick<Slots, 'run'>

export function historyTurns(): HistoryTurns {
  return new Slots({
    // Each reading takes some megabytes.
    most: 8,
    mostEach: AT_ONCE,
    // The calls of an account are limited beforehand.
    waitsMs: 20_000,
    refusal: () =>
      rateLimited(
        `at most ${AT_ONCE} tracks, trips or visits are read at the same time for one account`,
        5,
      ),
  })
}
