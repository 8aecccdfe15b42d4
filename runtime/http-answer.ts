import { ServerResponse } from 'node:http'
import type { InFlight } from './load.ts'

/**
 * An answer that gives up its place among the requests under way once it is complete, whether its client
 * reads it or not, and reports how many of its bytes wait for the client.
 */
export class HttpAnswer extends ServerResponse {
  /** The bytes that waited for the client when they were last reported. */
  unreadBytes = 0
  /** Called with the bytes that wait for the client whenever a write has changed their number. */
  onUnread: ((answer: HttpAnswer, bytes: number) => void) | undefined
  #load: InFlight | undefined

  /** Counts its request as one under way. False if there are too many. */
  takePlace(load: InFlight): boolean {
    if (!load.begin()) return false
    this.#load = load
    return true
  }

  /** Does nothing if it has no place. */
  giveUpPlace(): void {
    this.#load?.end()
    this.#load = undefined
  }

  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    const takesMore = super.write(chunk, encoding as BufferEncoding, callback as () => void)
    this.#reportUnread()
    return takesMore
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, callback as () => void)
    this.giveUpPlace()
    this.#reportUnread()
    return this
  }

  #reportUnread(): void {
    const bytes = this.writableLength
    if (bytes !== this.unreadBytes) this.onUnread?.(this, bytes)
  }
}
