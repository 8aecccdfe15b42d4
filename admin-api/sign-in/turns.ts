import { unavailable } from '../../runtime/http.ts'

/** Runs at most `atOnce` tasks at a time; at most `waiting` others wait in line. */
export class Turns {
  readonly #atOnce: number
  readonly #longestLine: number
  readonly #line: (() => void)[] = []
  #running = 0

  constructor({ atOnce, waiting }: { atOnce: number; waiting: number }) {
    this.#atOnce = atOnce
    this.#longestLine = waiting
  }

  /** @throws {ApiError} 503 when the line is full. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) {
      this.#running += 1
    } else {
      if (this.#line.length >= this.#longestLine) {
        throw unavailable('too many are signing in right now, please try again')
      }
      // Whoever is done hands its place on without giving it back in between.
      await new Promise<void>((resolve) => this.#line.push(resolve))
    }
    try {
      return await task()
    } finally {
      const next = this.#line.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
