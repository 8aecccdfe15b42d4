import { ownTurn } from '../../runtime/end-of-turn.ts'
import { Turns } from '../../runtime/turns.ts'
import { overloaded } from './read-body.ts'
import type { SenderRequest } from './sender-request.ts'

/** From this size of its body on, a request takes milliseconds of work. */
export const LARGE_BODY_BYTES = 64 * 1024

const WAITING = 64
/** Leaves time for the log: see `WAITS_MS` in admit.ts. */
const WAITS_MS = 3_000

/**
 * Lets only a few large requests be worked on at once, those of each key in turn. The others wait with the
 * bytes of their bodies alone, whose number `InFlight` limits: once parsed they take ten times as much.
 */
export class WorkTurns {
  readonly #turns: Turns

  constructor({ atOnce }: { atOnce: number }) {
    this.#turns = new Turns({ atOnce, waiting: WAITING, waitsMs: WAITS_MS, refusal: overloaded })
  }

  /**
   * Resolves when the work on a request may begin, to the milliseconds that it has waited. Its answer ends
   * the work.
   * @throws {ApiError} 503 if too many wait, or for too long.
   */
  async begin(request: SenderRequest): Promise<number> {
    const began = performance.now()
    request.endWork = await this.#turns.take(request.key?.id)
    await ownTurn()
    return performance.now() - began
  }
}
