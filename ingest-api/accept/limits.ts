import { LRUCache } from 'lru-cache'
import {
  countedLimit,
  secondsLeft,
  type Count,
  type CountedLimit,
  type OpenRateCounters,
  type RateCounters,
  type RateLimit,
} from '../../runtime/limits/rate-counters.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { ApiKey } from '../../store/keys.ts'

/** A limit, its remainder, and the time until it resets. */
export type Allowance = RateLimit & {
  readonly bucket: 'device' | 'key' | 'import'
  readonly left: number
  readonly resetSeconds: number
}

/** The allowance left by a limit after `count`. */
export function allowance(bucket: Allowance['bucket'], limit: RateLimit, count: Count): Allowance {
  const { points, seconds } = limit
  const left = Math.max(0, points - count.consumedPoints)
  return { bucket, points, seconds, left, resetSeconds: secondsLeft(count, limit) }
}

/**
 * Returns the headers of draft-ietf-httpapi-ratelimit-headers-10 for the bucket nearest to its
 * limit, as alternating names and values; empty without a limit.
 */
export function rateLimitHeaders(...allowances: (Allowance | undefined)[]): string[] {
  let nearest: Allowance | undefined
  for (const allowance of allowances) {
    if (allowance === undefined) continue
    if (
      nearest === undefined ||
      allowance.left / allowance.points <= nearest.left / nearest.points
    ) {
      nearest = allowance
    }
  }
  if (nearest === undefined) return []
  const { bucket, points, seconds, left, resetSeconds } = nearest
  const policy = `"${bucket}";q=${points};w=${seconds}`
  return ['RateLimit-Policy', policy, 'RateLimit', `"${bucket}";r=${left};t=${resetSeconds}`]
}

/** Maximum number of keys whose debts are remembered; beyond it the oldest are forgotten. */
const OWING = 10_000

/** The window of a key's own limit. */
const OWN_WINDOW_SECONDS = 60

/** The remaining allowance of a key; `over`: the number of positions that exceeded its limit. */
export type KeyAllowance = Allowance & { readonly over: number }

/** Positions of a request, counted before its outcome is known. */
export type Charge = {
  /** Set if nothing was counted because other requests used up the limit in the meantime. */
  readonly exhausted?: Allowance
  /**
   * The whole request was accepted, even beyond the limit. After its window ends, the key is
   * blocked for as long as the excess would have needed.
   */
  owe(): void
  /** The request was not accepted; the client will resend it. */
  giveBack(): Promise<void>
}

const NO_CHARGE: Charge = { owe: () => undefined, giveBack: () => Promise.resolve() }

/**
 * Counts each key's positions against the key's own limit, or else `limit`. Positions beyond the
 * limit count too.
 */
export class KeyLimit {
  readonly #bucket: 'key' | 'import'
  readonly #limit: RateLimit | 'off'
  readonly #openCounters: OpenRateCounters
  /**
   * Counters by window. They have no limit, because limits differ from key to key and may change.
   */
  readonly #counters = new Map<number, RateCounters>()
  /** When each key's debt ends, by key id, on the clock of `performance.now()`. */
  readonly #owing = new LRUCache<string, number>({ max: OWING })

  /** @param bucket `import` has separate counters, and a key's own limit does not apply there. */
  constructor({
    bucket = 'key',
    limit,
    openCounters,
  }: {
    bucket?: 'key' | 'import'
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
  }) {
    this.#bucket = bucket
    this.#limit = limit
    this.#openCounters = openCounters
  }

  /** Counts positions against the key's limit; undefined if the key has no limit. */
  async take(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<KeyAllowance | undefined> {
    const limit = this.#limitOf(own)
    if (limit === 'off') return undefined
    const owedMs = (this.#owing.get(id) ?? -Infinity) - performance.now()
    if (owedMs > 0) {
      const count = { consumedPoints: limit.points, msBeforeNext: owedMs }
      return { ...allowance(this.#bucket, limit, count), over: positions }
    }
    const count = await this.#countersOf(limit.seconds).add(id, positions)
    const over = Math.min(positions, Math.max(0, count.consumedPoints - limit.points))
    return { over, ...allowance(this.#bucket, limit, count) }
  }

  /**
   * Counts the remaining positions of a request whose first one was within the limit, even if they
   * exceed it.
   */
  async charge(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<Charge> {
    const limit = this.#limitOf(own)
    if (limit === 'off' || positions <= 0) return NO_CHARGE
    const counters = this.#countersOf(limit.seconds)
    const count = await counters.add(id, positions)
    const { consumedPoints } = count
    const endsAt = performance.now() + count.msBeforeNext
    const giveBack = async () => {
      if (performance.now() < endsAt) await counters.add(id, -positions)
    }
    if (consumedPoints - positions > limit.points) {
      await giveBack()
      return { ...NO_CHARGE, exhausted: allowance(this.#bucket, limit, count) }
    }
    const over = Math.min(positions, consumedPoints - limit.points)
    const owe = () => {
      if (over <= 0) return
      const from = Math.max(this.#owing.get(id) ?? 0, endsAt)
      this.#owing.set(id, from + (over / limit.points) * limit.seconds * 1_000)
    }
    return { owe, giveBack }
  }

  #limitOf(own: number | undefined): RateLimit | 'off' {
    if (own === undefined || this.#bucket === 'import') return this.#limit
    return { points: own, seconds: OWN_WINDOW_SECONDS }
  }

  #countersOf(seconds: number): RateCounters {
    let counters = this.#counters.get(seconds)
    if (counters === undefined) {
      counters = this.#openCounters({ kind: this.#bucket, seconds })
      this.#counters.set(seconds, counters)
    }
    return counters
  }
}

/** The message of a 429. */
export function describeKeyLimit({ points, seconds, resetSeconds }: Allowance): string {
  const positions = points === 1 ? '1 position' : `${points} positions`
  return `this API key may report ${positions} in ${seconds} s: send it again in ${resetSeconds} s`
}

/** Maximum number of devices counted concurrently: shared counters answer over the network. */
const AT_ONCE = 100

/** The remaining allowance of a device, and whether this request exceeded it. */
export type DeviceAllowance = Allowance & { readonly exceeded: boolean }

/** Counts the requests that report for a device, per account and deviceId. */
export class DeviceLimit {
  readonly #limit: CountedLimit | undefined

  constructor({
    limit,
    openCounters,
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
  }) {
    this.#limit = countedLimit(limit, { kind: 'device', openCounters })
  }

  /** Counts one request per device; returns no allowances without a limit. */
  async take(
    accountId: string,
    deviceIds: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DeviceAllowance>> {
    const taken = new Map<string, DeviceAllowance>()
    const limit = this.#limit
    if (limit === undefined) return taken
    const all = [...deviceIds]
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const some = all.slice(from, from + AT_ONCE)
      const counts = await Promise.all(
        some.map((deviceId) => limit.counters.add(deviceKey({ accountId, deviceId }), 1)),
      )
      some.forEach((deviceId, index) => {
        const count = counts[index]!
        const exceeded = count.consumedPoints > limit.points
        taken.set(deviceId, { exceeded, ...allowance('device', limit, count) })
      })
    }
    return taken
  }
}

/** The message of a 429. */
export function describeDeviceLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this device may report ${points} times in ${seconds} s: send it again in ${resetSeconds} s`
}
