/**
 * Beyond this number of requests under way, and bytes of their bodies, further ones are refused. More
 * would be answered later and not faster: objects that live longer cost more garbage collection.
 */
const MOST_REQUESTS = 512
const MOST_BYTES = 64 * 1024 * 1024

/**
 * The reports that a server is working on. One whose body is still arriving does not count: slow clients
 * take nothing from others but room for their bytes. Nor does one that has its answer: see `HttpAnswer`.
 */
export class Load {
  #requests = 0
  #arriving = 0
  #bytes = 0
  readonly #mostRequests: number
  readonly #mostBytes: number

  constructor({ mostRequests = MOST_REQUESTS, mostBytes = MOST_BYTES } = {}) {
    this.#mostRequests = mostRequests
    this.#mostBytes = mostBytes
  }

  /** Whether as many requests are under way as the limits allow. */
  get isFull(): boolean {
    return this.#requests - this.#arriving >= this.#mostRequests
  }

  /** False if there are too many already; otherwise call `end` once. */
  begin(): boolean {
    if (this.isFull) return false
    this.#requests += 1
    return true
  }

  end(): void {
    this.#requests -= 1
  }

  /** Call when reading the body of a request that has begun. */
  beginBody(): void {
    this.#arriving += 1
  }

  endBody(): void {
    this.#arriving -= 1
  }

  /** False if there is no room for these bytes. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#mostBytes) return false
    this.#bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}
