import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import type { RateLimit } from '../../runtime/config/config.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import { countedLimit, memoryRateCounters } from '../../runtime/rate-counters.ts'
import { secretHash } from '../../schemas/api-key.ts'
import { isShareToken } from '../../schemas/share-token.ts'
import type { Share, Shares } from '../../store/back-office.ts'
import { tooMany } from './call-rate.ts'

/** Somebody with the link of a share. */
export type ShareCaller = { readonly share: Share; readonly tokenHash: Uint8Array }

/** Longer than any address; what is longer was made up by a client. */
const ADDRESS_LENGTH = 64
const GOOD_REMEMBERED = 10_000
const GOOD_FOR_MS = 60 * 60 * 1_000

/** The share that a token gives access to now. */
export async function shareInForce(
  tokenHash: Uint8Array,
  { store, clock }: { store: Pick<Shares, 'findShare'>; clock: Clock },
): Promise<Share | undefined> {
  const found = await store.findShare(tokenHash)
  if (found === undefined || found.accountSuspended) return undefined
  return clock.now() < found.share.expiresAt ? found.share : undefined
}

/**
 * Identifies shares by their token. Tokens that give access to nothing are one 404, and are counted
 * per client address: beyond `limit`, only a token that was good in the last hour is looked up.
 */
export function shareCallers({
  store,
  clock,
  limit,
}: {
  store: Pick<Shares, 'findShare'>
  clock: Clock
  limit: RateLimit | 'off'
}): (ctx: HttpContext) => Promise<ShareCaller> {
  const good = new LRUCache<string, true>({ max: GOOD_REMEMBERED, ttl: GOOD_FOR_MS })
  const unknown = countedLimit(limit, { kind: 'share', openCounters: memoryRateCounters })

  async function refuseFlood(address: string): Promise<void> {
    const count = await unknown?.counters.get(address)
    if (unknown === undefined || count === undefined || count.consumedPoints < unknown.points)
      return
    const seconds = Math.max(1, Math.ceil(count.msBeforeNext / 1_000))
    throw tooMany('too many requests without a valid link came from this address', seconds)
  }

  return async function identifyShare(ctx) {
    const token = /^bearer +([^\s]+) *$/i.exec(ctx.get('authorization'))?.[1]
    if (token === undefined) {
      throw new ApiError('UNAUTHORIZED', 'send the token of a share as a Bearer token', {
        headers: { 'WWW-Authenticate': 'Bearer realm="gps"' },
      })
    }
    const address = ctx.ip.slice(0, ADDRESS_LENGTH)
    const tokenHash = secretHash(token)
    const id = tokenHash.toString('base64')
    if (!good.has(id)) await refuseFlood(address)
    const share = isShareToken(token) ? await shareInForce(tokenHash, { store, clock }) : undefined
    if (share === undefined) {
      await unknown?.counters.add(address, 1)
      throw new ApiError('NOT_FOUND', 'this share does not exist, or not any more')
    }
    good.set(id, true)
    return { share, tokenHash }
  }
}
