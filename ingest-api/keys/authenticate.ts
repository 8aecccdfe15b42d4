import { isApiKey, secretHash } from '../../schemas/api-key.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpMiddleware } from '../../runtime/http.ts'
import { isInForce, type KeyGrant, type Scope } from '../../store/back-office.ts'
import type { Grants } from './grants.ts'
import type { KeyUsage } from './key-usage.ts'
import type { BodyState } from '../senders/read-json.ts'

export type IngestState = BodyState & {
  /** Of a good key, known from then on, whether the key may do this or not. */
  grant: KeyGrant
}

/**
 * Lets only requests pass that carry a good API key with `scope` in `Authorization: Bearer`
 * (specification section 5, RFC 6750). One and the same 401 for every key that is not good.
 */
export function authenticate({
  grants,
  usage,
  clock,
  scope,
}: {
  grants: Grants
  usage: KeyUsage
  clock: Clock
  scope: Scope
}): HttpMiddleware<IngestState> {
  return async function authenticate(ctx, next) {
    const authorization = ctx.get('authorization')
    const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
    const grant =
      token !== undefined && isApiKey(token) ? await grants.find(secretHash(token)) : undefined
    const now = clock.now()
    // Decided anew for each request: a grant is remembered for longer than its times may last.
    if (grant === undefined || !isInForce(grant, now)) throw unauthorized(authorization !== '')
    ctx.state.grant = grant
    if (!grant.key.scopes.includes(scope)) throw insufficientScope(scope)
    if (grant.accountSuspended) throw new ApiError('FORBIDDEN', 'the account is suspended')
    usage.note(grant.key.id, now)
    await next()
  }
}

/** 403 unless the key may report for this device and the device is not disabled. */
export function requireDevice({ key, disabledDevices }: KeyGrant, deviceId: string): void {
  if (key.deviceIds !== undefined && !key.deviceIds.some((listed) => covers(listed, deviceId))) {
    throw new ApiError('FORBIDDEN', 'this API key may not report for this deviceId')
  }
  if (disabledDevices.has(deviceId)) throw new ApiError('FORBIDDEN', 'this device is disabled')
}

function covers(listed: string, deviceId: string): boolean {
  return listed.endsWith('*') ? deviceId.startsWith(listed.slice(0, -1)) : listed === deviceId
}

function unauthorized(tokenSent: boolean): ApiError {
  const challenge = tokenSent ? 'Bearer realm="gps", error="invalid_token"' : 'Bearer realm="gps"'
  return new ApiError(
    'UNAUTHORIZED',
    'send a valid API key in the header Authorization: Bearer <API_KEY>',
    { headers: { 'WWW-Authenticate': challenge } },
  )
}

function insufficientScope(scope: Scope): ApiError {
  return new ApiError('FORBIDDEN', `this API key lacks the scope ${scope}`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="gps", error="insufficient_scope", scope="${scope}"`,
    },
  })
}
