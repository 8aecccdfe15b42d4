import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts what must be read again. `about`: the thing that the secret belongs to; it opens with no other. */
export type SealedSecrets = {
  seal(text: string, about: string): string
  /** @throws {UnsealingError} under another key, about another thing, or altered. */
  open(sealed: string, about: string): string
}

export class UnsealingError extends Error {
  override readonly name = 'UnsealingError'
}

export const SECRETS_KEY_BYTES = 32
const VERSION = 'v1.'
const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM. */
export function sealedSecrets(key: Uint8Array): SealedSecrets {
  return {
    seal(text, about) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(about))
      const content = [cipher.update(text, 'utf8'), cipher.final()]
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), ...content]).toString('base64url')
    },

    open(sealed, about) {
      try {
        if (!sealed.startsWith(VERSION)) throw new Error('another version')
        const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
        const iv = bytes.subarray(0, IV_BYTES)
        const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(Buffer.from(about))
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        const content = bytes.subarray(IV_BYTES + TAG_BYTES)
        return decipher.update(content, undefined, 'utf8') + decipher.final('utf8')
      } catch {
        throw new UnsealingError(
          'the secrets cannot be read with this key: put back the SECRETS_KEY, or the file secrets.key, that encrypted them',
        )
      }
    },
  }
}
