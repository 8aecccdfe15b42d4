import { randomBytes } from 'node:crypto'
import type { Session } from '../../store/back-office.ts'
import type { HttpContext, HttpState } from '../../runtime/http.ts'

export const IDLE_MS = 30 * 60_000
export const LONGEST_MS = 12 * 60 * 60_000

const NAME = 'gps_session'

/** Whether a session still holds: 30 minutes without a request end it, 12 hours end it anyhow. */
export function isSessionInForce({ createdAt, lastSeenAt }: Session, now: number): boolean {
  return now - lastSeenAt < IDLE_MS && now - createdAt < LONGEST_MS
}

/** A new secret of 128 random bits; only its hash is kept. */
export function newSessionToken(): string {
  return randomBytes(16).toString('base64url')
}

/** The session secret that a request carries, where it has the shape of one. */
export function sessionToken(ctx: HttpContext<HttpState>): string | undefined {
  const value = ctx.cookies.get(NAME)
  return value !== undefined && /^[\w-]{22}$/.test(value) ? value : undefined
}

/** Hands the session to the browser until that is closed; `undefined` takes it away. */
export function setSessionCookie(ctx: HttpContext<HttpState>, token: string | undefined): void {
  ctx.cookies.set(NAME, token ?? null, {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: ctx.secure,
  })
}
