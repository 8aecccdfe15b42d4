import { randomBytes } from 'node:crypto'
import { SESSION_IDLE_MS, SESSION_LONGEST_MS, type Session } from '../../store/operators.ts'
import type { HttpContext, HttpState } from '../../runtime/http/http.ts'

const NAME = 'gps_session'

export function sessionEnds({ createdAt, lastSeenAt }: Session) {
  const endsAt = createdAt + SESSION_LONGEST_MS
  return { idleEndsAt: Math.min(lastSeenAt + SESSION_IDLE_MS, endsAt), endsAt }
}

export function isSessionInForce(session: Session, now: number): boolean {
  return now < sessionEnds(session).idleEndsAt
}

/** A new secret with 128 random bits; only its hash is stored. */
export function newSessionToken(): string {
  return randomBytes(16).toString('base64url')
}

/** The session secret in a request, if it is well-formed. */
export function sessionToken(ctx: HttpContext<HttpState>): string | undefined {
  const value = ctx.cookies.get(NAME)
  return value !== undefined && /^[\w-]{22}$/.test(value) ? value : undefined
}

/**
 * Sets a cookie that lasts until the browser is closed; `undefined` clears it.
 * @param path the path under which browsers reach the API, so that other services on the same host
 * get no cookie.
 */
export function setSessionCookie(
  ctx: HttpContext<HttpState>,
  token: string | undefined,
  path: string,
): void {
  ctx.cookies.set(NAME, token ?? null, {
    httpOnly: true,
    sameSite: 'strict',
    path,
    secure: ctx.secure,
  })
}
