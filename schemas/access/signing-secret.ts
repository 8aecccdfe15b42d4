import { randomBytes } from 'node:crypto'

/** How the secrets of Standard Webhooks begin; base64 of the key follows. */
export const SIGNING_SECRET_PREFIX = 'whsec_'
const BYTES = 32

export function newSigningSecret(): string {
  return SIGNING_SECRET_PREFIX + randomBytes(BYTES).toString('base64')
}
