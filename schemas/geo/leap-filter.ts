import { distance, type EarthPoint } from './earth-point.ts'

type Located = { readonly timestamp: number; readonly place: EarthPoint }

/**
 * Passes records on in order, except a single record that jumps away and back: a
 * receiver without a fix reports (0, 0), and the device was never there. A record is held back
 * until the next one arrives.
 */
export class LeapFilter<Kept extends Located> {
  /** From here on the result is the same as if reading had started earlier. */
  isCertain = false
  #last: Kept | undefined
  #out: Kept | undefined
  readonly #pass: (record: Kept) => void

  constructor(pass: (record: Kept) => void) {
    this.#pass = pass
  }

  add(record: Kept): void {
    const [last, out] = [this.#last, this.#out]
    this.#out = undefined
    if (last === undefined) this.#keep(record)
    else if (out !== undefined && isBack(last, out, record)) this.#keep(record)
    else {
      if (out !== undefined) this.#keep(out)
      const isOut = isTooFast(out ?? last, record)
      // The previous record is passed on in every case.
      if (out !== undefined || !isOut) this.isCertain = true
      if (isOut) this.#out = record
      else this.#keep(record)
    }
  }

  /** Call when there are no more records. */
  end(): void {
    const out = this.#out
    this.#out = undefined
    if (out !== undefined) this.#keep(out)
  }

  /** The record held back. */
  get held(): Kept | undefined {
    return this.#out
  }

  #keep(record: Kept): void {
    this.#last = record
    this.#pass(record)
  }
}

/** Whether a device back here stayed, rather than jumping away and back. */
function isBack(last: Located, out: Located, next: Located): boolean {
  return (
    !isTooFast(last, next) && distance(last.place, next.place) < distance(out.place, next.place)
  )
}

function isTooFast(from: Located, to: Located): boolean {
  return isLeap(distance(from.place, to.place), to.timestamp - from.timestamp)
}

/** In milliseconds: if more time lies between two positions, the path between them is unknown. */
export const LONGEST_STEP_MS = 60 * 60_000

/** No vehicle drives above this speed, in metres per second: it is a jump. */
const LEAP = 300

/**
 * Whether the path between two successive records cannot be a straight line: it adds neither
 * distance nor moving time, and a trip ends there. Tracks, trips and the console all use this rule.
 */
export function isPathless(metres: number, ms: number): boolean {
  return ms > LONGEST_STEP_MS || isLeap(metres, ms)
}

export function isLeap(metres: number, ms: number): boolean {
  // Many senders' clocks count whole seconds.
  return metres / ((ms || 1_000) / 1_000) > LEAP
}
