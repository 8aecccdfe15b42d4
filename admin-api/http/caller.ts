import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext, HttpState } from '../../runtime/http/http.ts'
import { bearerToken, unauthorized } from '../../runtime/http/http-request.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { isApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { isInForce, type ApiKey } from '../../store/keys.ts'
import type { Account, Operator, Session } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import type { LookUp } from './known-secrets.ts'
import { isSessionInForce, sessionToken } from './session-cookie.ts'

/** A signed-in operator. */
export type OperatorCaller = {
  readonly kind: 'operator'
  readonly accountId: string
  readonly operator: Operator
  readonly account: Account
  readonly session: Session
}

/** A program with an API key. */
export type KeyCaller = { readonly kind: 'key'; readonly accountId: string; readonly key: ApiKey }

export type Caller = OperatorCaller | KeyCaller

/** The devices the caller may see, if not all of the account's: see `isListed`. */
export function deviceList(caller: Caller): readonly string[] | undefined {
  return caller.kind === 'key' ? caller.key.deviceIds : undefined
}

/** Identifies a key or session. */
export function callerId(caller: Caller): string {
  return caller.kind === 'key'
    ? `key ${caller.key.id}`
    : `session ${Buffer.from(caller.session.tokenHash).toString('base64')}`
}

/** Identifies a key or person, regardless of the session. */
export function actorId(caller: Caller): string {
  return caller.kind === 'key' ? callerId(caller) : `operator ${caller.operator.id}`
}

/** The part of the store needed to identify callers. */
export type CallerStore = Pick<
  Store,
  'findGrant' | 'touchKeys' | 'findSession' | 'touchSession' | 'deleteSession'
>

/** How often a key's or session's use is recorded: polling must not cause a write each time. */
const NOTED_EVERY_MS = 60_000

/**
 * Identifies the caller by `Authorization: Bearer`, otherwise by the session cookie. Every invalid
 * key or session gets the same 401; a valid key of a suspended account gets 403, and the account's
 * sessions end. `lookUp`: see `limitLookUps`; by default there is no limit.
 */
export async function identifyCaller(
  ctx: HttpContext<HttpState>,
  deps: { store: CallerStore; clock: Clock; logger: Logger; lookUp?: LookUp },
): Promise<Caller> {
  const authorization = ctx.get('authorization')
  const token = bearerToken(authorization)
  const caller =
    token !== undefined ? await keyCaller(token, ctx.ip, deps) : await operatorCaller(ctx, deps)
  if (caller !== undefined) return caller
  const message = 'sign in, or send a valid API key as a Bearer token'
  throw unauthorized(message, { isSent: authorization !== '' })
}

async function keyCaller(
  token: string,
  address: string,
  {
    store,
    clock,
    logger,
    lookUp = (_, find) => find(),
  }: { store: CallerStore; clock: Clock; logger: Logger; lookUp?: LookUp },
): Promise<KeyCaller | undefined> {
  const hash = secretHash(token)
  const grant = await lookUp({ hash, address }, async () => {
    const known = isApiKey(token) ? await store.findGrant(hash) : undefined
    return known !== undefined && isInForce(known, clock.now()) ? known : undefined
  })
  if (grant === undefined) return undefined
  const now = clock.now()
  const { key } = grant
  if (grant.accountSuspended) throw new ApiError('FORBIDDEN', 'the account is suspended')
  if (now - (key.lastUsedAt ?? -Infinity) >= NOTED_EVERY_MS) {
    try {
      await store.touchKeys(new Map([[key.id, now]]))
    } catch (error) {
      logger.warn({ err: error, keyId: key.id }, 'could not record the use of a key')
    }
  }
  return { kind: 'key', accountId: key.accountId, key }
}

async function operatorCaller(
  ctx: HttpContext<HttpState>,
  { store, clock }: { store: CallerStore; clock: Clock },
): Promise<OperatorCaller | undefined> {
  const token = sessionToken(ctx)
  if (token === undefined) return undefined
  const tokenHash = secretHash(token)
  const signIn = await store.findSession(tokenHash)
  if (signIn === undefined) return undefined
  const now = clock.now()
  const { operator, account } = signIn
  let { session } = signIn
  if (!isSessionInForce(session, now) || account.suspended) {
    await store.deleteSession(tokenHash)
    return undefined
  }
  if (now - session.lastSeenAt >= NOTED_EVERY_MS) {
    session = { ...session, lastSeenAt: now }
    await store.touchSession(session)
  }
  return { kind: 'operator', accountId: account.id, operator, account, session }
}
