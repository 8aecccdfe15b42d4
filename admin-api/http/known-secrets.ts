import { LRUCache } from 'lru-cache'
import { AuthFailures } from '../../runtime/auth-failures.ts'
import { memoryRateCounters, type RateLimit } from '../../runtime/rate-counters.ts'

const GOOD_REMEMBERED = 10_000
const GOOD_FOR_MS = 60 * 60 * 1_000

/**
 * Looks up a secret, and counts an unknown one as a failure of the client address.
 *
 * @throws {ApiError} 429 beyond the limit of failures, without a lookup, unless the secret was
 * valid in the last hour.
 */
export type LookUp = <Found>(
  secret: { readonly hash: Buffer; readonly address: string },
  find: () => Promise<Found | undefined>,
) => Promise<Found | undefined>

/** @param lacking names the invalid secret in the answer. */
export function limitedLookUps(options: { limit: RateLimit | 'off'; lacking: string }): LookUp {
  const good = new LRUCache<string, true>({ max: GOOD_REMEMBERED, ttl: GOOD_FOR_MS })
  const failures = new AuthFailures({ ...options, openCounters: memoryRateCounters })

  return async function lookUp({ hash, address }, find) {
    const id = hash.toString('base64')
    if (!good.has(id)) await failures.check(address)
    const owner = await find()
    if (owner !== undefined) {
      good.set(id, true)
      return owner
    }
    const tooMany = await failures.count(address)
    if (tooMany !== undefined && !good.has(id)) throw tooMany
    return undefined
  }
}
