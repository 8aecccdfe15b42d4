import { randomBytes } from 'node:crypto'

/** A new secret of a share: `gpsshare_` and 256 random bits. */
export function newShareToken(): string {
  return `gpsshare_${randomBytes(32).toString('base64url')}`
}

/** Whether a text has the shape of a share token. */
export function isShareToken(text: string): boolean {
  return /^gpsshare_[\w-]{43}$/.test(text)
}

/** The prefix of Standard Webhooks secrets; base64 of the key follows. */
export const SIGNING_SECRET_PREFIX = 'whsec_'
const BYTES = 32

export function newSigningSecret(): string {
  return SIGNING_SECRET_PREFIX + randomBytes(BYTES).toString('base64')
}
