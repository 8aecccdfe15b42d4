import { ServerResponse } from 'node:http'
import type { Load } from './load.ts'

/**
 * An answer that gives up its place among the requests under way once it is complete, whether its client
 * reads it or not.
 */
export class HttpAnswer extends ServerResponse {
  #load: Load | undefined

  /** Counts its request as one under way. False if there are too many. */
  takePlace(load: Load): boolean {
    if (!load.begin()) return false
    this.#load = load
    return true
  }

  /** Does nothing if it has no place. */
  giveUpPlace(): void {
    this.#load?.end()
    this.#load = undefined
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, callback as () => void)
    this.giveUpPlace()
    return this
  }
}
