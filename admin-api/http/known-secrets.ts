import { AuthFailures, GoodSecrets } from '../../runtime/limits/auth-failures.ts'
import { memoryRateCounters, type RateLimit } from '../../runtime/limits/rate-counters.ts'

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

/** @param lacking names the invalid secret in the error. */
export function limitLookUps(options: { limit: RateLimit | 'off'; lacking: string }): LookUp {
  const good = new GoodSecrets()
  const failures = new AuthFailures({ ...options, openCounters: memoryRateCounters, good })

  return async function lookUp({ hash: bytes, address }, find) {
    const hash = bytes.toString('base64')
    await failures.check({ hash, address })
    const owner = await find()
    if (owner === undefined) await failures.count({ hash, address })
    else good.note(hash)
    return owner
  }
}
