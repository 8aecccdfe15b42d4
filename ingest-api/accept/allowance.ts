import type { Count, RateLimit } from '../../runtime/rate-counters.ts'

/** A limit, its remainder, and the time until it resets. */
export type Allowance = RateLimit & {
  readonly bucket: 'device' | 'key' | 'import'
  readonly left: number
  readonly resetSeconds: number
}

/** The allowance of a limit after `count`. */
export function allowance(
  bucket: Allowance['bucket'],
  { points, seconds }: RateLimit,
  { consumedPoints, msBeforeNext }: Count,
): Allowance {
  // Shared counters use a wall clock, which may have been set back.
  const resetSeconds = Math.min(seconds, Math.max(1, Math.ceil(msBeforeNext / 1000)))
  return { bucket, points, seconds, left: Math.max(0, points - consumedPoints), resetSeconds }
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10 for the bucket nearest to its limit: names
 * and values in turn, none without a limit.
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
