import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http/http.ts'
import { bearerToken, unauthorized } from '../../runtime/http/http-request.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { secretHash } from '../../schemas/access/api-key.ts'
import { isShareToken } from '../../schemas/access/random-secrets.ts'
import type { Share, Shares } from '../../store/back-office.ts'
import { limitLookUps } from './known-secrets.ts'

/** A caller who has a share's link. */
export type ShareCaller = { readonly share: Share; readonly tokenHash: Uint8Array }

/** Finds the share that a token currently gives access to. */
export async function shareInForce(
  tokenHash: Uint8Array,
  { store, clock }: { store: Pick<Shares, 'findShare'>; clock: Clock },
): Promise<Share | undefined> {
  const known = await store.findShare(tokenHash)
  if (known === undefined || known.accountSuspended) return undefined
  return clock.now() < known.share.expiresAt ? known.share : undefined
}

/**
 * Identifies shares by their token. Every token without access gets the same 404 and is counted per
 * client address: see `limitLookUps`.
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
  const lookUp = limitLookUps({ limit, lacking: 'link' })

  return async function identifyShare(ctx) {
    const token = bearerToken(ctx.get('authorization'))
    if (token === undefined) {
      throw unauthorized('send the token of a share as a Bearer token', { isSent: false })
    }
    const tokenHash = secretHash(token)
    const share = await lookUp({ hash: tokenHash, address: ctx.ip }, async () =>
      isShareToken(token) ? shareInForce(tokenHash, { store, clock }) : undefined,
    )
    if (share === undefined) {
      throw new ApiError('NOT_FOUND', 'this share does not exist, or has ended')
    }
    return { share, tokenHash }
  }
}
