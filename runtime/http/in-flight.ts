import { ServerResponse } from 'node:http'
import { Slots } from '../limits/slots.ts'

/**
 * Beyond this number of requests in flight, and of bytes of their bodies, further requests are
 * refused. Accepting more would only delay responses: longer-lived objects cost more garbage
 * collection.
 */
const MOST_REQUESTS = 512
const MOST_BYTES = 64 * 1024 * 1024
/** Bodies up to this size have reserved room that larger bodies cannot take. */
export const SMALL_BODY_BYTES = 16 * 1024

/** A request that reserves bytes. */
export type Holder = {
  heldBytes: number
  /** The key, known before the first byte is reserved. */
  readonly key?: { readonly id: string; readonly accountId: string } | undefined
}

export type LoadLimits = {
  readonly mostRequests?: number
  /**
   * The maximum number of one account's requests in flight, however many keys it has; absent: a
   * quarter.
   */
  readonly mostOfAccount?: number
  readonly mostBytes?: number
  /**
   * The bytes that the requests of one key may reserve; by default a quarter. An account's requests
   * with larger bodies may reserve three times as many: it can have any number of keys.
   */
  readonly mostOfKey?: number
  /** The bytes that only small bodies may reserve; by default an eighth. */
  readonly keptForSmall?: number
}

/**
 * The reports that a server is working on. A request whose body is still arriving does not count:
 * slow clients take nothing from others except room for their bytes. Nor does a request that has
 * its response: see `HttpAnswer`.
 */
export class InFlight {
  #requests = 0
  readonly #bytesOfKeys = new Slots()
  readonly #bytesOfAccounts = new Slots()
  /** The requests of each account. */
  readonly accounts: Slots
  readonly #mostRequests: number
  readonly #mostBytes: number
  readonly #mostOfKey: number
  readonly #mostBytesOfAccount: number
  readonly #mostUnlessSmall: number

  constructor({
    mostRequests = MOST_REQUESTS,
    mostOfAccount = Math.ceil(mostRequests / 4),
    mostBytes = MOST_BYTES,
    mostOfKey = mostBytes / 4,
    keptForSmall = mostBytes / 8,
  }: LoadLimits = {}) {
    this.accounts = new Slots({ mostEach: mostOfAccount })
    this.#mostRequests = mostRequests
    this.#mostBytes = mostBytes
    this.#mostOfKey = mostOfKey
    this.#mostBytesOfAccount = 3 * mostOfKey
    this.#mostUnlessSmall = mostBytes - keptForSmall
  }

  /** Whether as many requests are in flight as the limits allow. */
  get isFull(): boolean {
    return this.#requests >= this.#mostRequests
  }

  /** Counts a request. False if there are too many; otherwise call `end` once. */
  begin(): boolean {
    if (this.isFull) return false
    this.#requests += 1
    return true
  }

  /**
   * Counts a request as one of an account, until `end` is called with it. False if the account has
   * used its share.
   */
  join(accountId: string): boolean {
    if (this.accounts.areTaken(accountId)) return false
    this.accounts.take(accountId)
    return true
  }

  /** `accountId`: the account that the request counts towards. */
  end(accountId: string | undefined): void {
    this.#requests -= 1
    if (accountId !== undefined) this.accounts.giveBack(accountId)
  }

  /**
   * Call when starting to read the body of a request that has started. It does not count in the
   * meantime.
   */
  beginBody(accountId: string | undefined): void {
    this.end(accountId)
  }

  /** Call when the body is read. False if the account already has its maximum of other requests. */
  endBody(accountId: string | undefined): boolean {
    this.#requests += 1
    return accountId === undefined || this.join(accountId)
  }

  /** Reserves further bytes for a request. False if there is no room for them. */
  hold(holder: Holder, bytes: number): boolean {
    const { id = '', accountId = '' } = holder.key ?? {}
    const held = holder.heldBytes + bytes
    const isSmall = held <= SMALL_BODY_BYTES
    const ofKey = this.#bytesOfKeys.takenBy(id) + bytes
    const ofAccount = this.#bytesOfAccounts.takenBy(accountId) + bytes
    const all = this.#bytesOfKeys.taken + bytes
    if (ofKey > this.#mostOfKey || all > this.#mostBytes) return false
    const isTooMuch = ofAccount > this.#mostBytesOfAccount || all > this.#mostUnlessSmall
    if (isTooMuch && !isSmall) return false
    this.#bytesOfKeys.take(id, bytes)
    this.#bytesOfAccounts.take(accountId, bytes)
    holder.heldBytes = held
    return true
  }

  /** Call once work on a request is done, even if the client has disconnected. */
  release(holder: Holder): void {
    const { heldBytes, key } = holder
    if (heldBytes === 0) return
    this.#bytesOfKeys.giveBack(key?.id, heldBytes)
    this.#bytesOfAccounts.giveBack(key?.accountId, heldBytes)
    holder.heldBytes = 0
  }
}

/**
 * A response that frees its slot among the requests in flight once it is complete, whether its
 * client reads it or not, and reports how many of its bytes wait for the client.
 */
export class HttpAnswer extends ServerResponse {
  /** The bytes that waited for the client when they were last reported. */
  unreadBytes = 0
  /** Called with the bytes that wait for the client whenever a write has changed their number. */
  onUnread: ((answer: HttpAnswer, bytes: number) => void) | undefined
  /** The requests in flight on its server, if their number is limited. */
  inFlight: InFlight | undefined
  /** Whether its request counts as in flight, or will again once its body is read. */
  #hasPlace = false
  /** The account whose share its request uses, once known. */
  #accountId: string | undefined
  #isArriving = false

  /** Counts its request as in flight. False if there are too many. */
  takePlace(): boolean {
    this.#hasPlace = this.inFlight?.begin() ?? true
    return this.#hasPlace
  }

  /**
   * Counts its request as one of an account. False if the account already has its maximum in
   * flight.
   */
  takePlaceOf(accountId: string): boolean {
    if (!this.#hasPlace || this.inFlight === undefined) return true
    const hasJoined = this.inFlight.join(accountId)
    if (hasJoined) this.#accountId = accountId
    return hasJoined
  }

  /** Call when starting to read the body of its request. */
  beginBody(): void {
    if (this.#hasPlace) this.inFlight?.beginBody(this.#accountId)
    this.#isArriving = true
  }

  /** Call when the body is read. False if the account already has its maximum of other requests. */
  endBody(): boolean {
    this.#isArriving = false
    if (!this.#hasPlace || this.inFlight === undefined) return true
    const hasJoined = this.inFlight.endBody(this.#accountId)
    // A refused request must not keep out the account's other requests until its response is sent.
    if (!hasJoined) this.#accountId = undefined
    return hasJoined
  }

  /** Gives up the request's slot, if it has one. */
  giveUpPlace(): void {
    if (this.#hasPlace && !this.#isArriving) this.inFlight?.end(this.#accountId)
    this.#hasPlace = false
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
