import { yieldFairly } from '../../runtime/end-of-turn.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import { overloadedError, type SenderRequest } from './sender-request.ts'

/** From this body size on, a request takes milliseconds of work. */
export const LARGE_BODY_BYTES = 64 * 1024

const WAITING = 64
/** Leaves time for the log: see `WAITS_MS` in sender-request.ts. */
const WAITS_MS = 3_000

/** A larger body contains photos, or hundreds of points. */
const LARGE_BYTES = 1024 * 1024
/** Twice as many as in 2 MiB of an app's points. */
const MOST_PARTS = 200_000
/** Bytes scanned per event-loop turn: about a millisecond. */
const SCANNED_AT_ONCE = 1024 * 1024
const [COMMA, BRACE, BRACKET] = [0x2c, 0x7b, 0x5b]

/**
 * Processes a few large requests at a time, alternating between accounts. The rest wait unparsed,
 * within the bytes that `InFlight` allows: parsed, they would take ten times as much memory.
 */
export class WorkTurns {
  /** Requests with smaller bodies need no slot. */
  readonly fromBytes: number
  readonly #slots: Slots

  constructor({ atOnce, fromBytes = 0 }: { atOnce: number; fromBytes?: number }) {
    this.fromBytes = fromBytes
    this.#slots = new Slots({
      most: atOnce,
      waiting: WAITING,
      waitsMs: WAITS_MS,
      refusal: overloadedError,
    })
  }

  /**
   * Resolves when the work on a request may start. Its response releases the slot.
   * @throws {ApiError} 503 if too many wait, or for too long.
   */
  async begin(request: SenderRequest): Promise<void> {
    request.endWork = await this.#slots.wait(request.key?.accountId)
    await yieldFairly()
  }
}

/** Whether parsing a body as JSON would take seconds, blocking all other requests. */
export async function hasTooManyParts(body: Buffer): Promise<boolean> {
  if (body.length <= LARGE_BYTES) return false
  let parts = 0
  for (let from = 0; from < body.length; from += SCANNED_AT_ONCE) {
    parts += countParts(body.subarray(from, from + SCANNED_AT_ONCE))
    if (parts > MOST_PARTS) return true
    await yieldFairly()
  }
  return false
}

function countParts(bytes: Buffer): number {
  let parts = 0
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === COMMA || byte === BRACE || byte === BRACKET) parts += 1
  }
  return parts
}
