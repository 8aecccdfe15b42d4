import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Encrypts secrets that must be read again. `about`: what the secret belongs to; it can be
 * decrypted for nothing else.
 */
export type SealedSecrets = {
  seal(text: string, about: string): string
  /** @throws {UnsealingError} with another key, for something else, or if altered. */
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

/** The key file, which is part of the data and its backup. */
export const SECRETS_FILE = 'secrets.key'

/**
 * Reads the key in the data directory, or creates it at the first start.
 * @throws {Error} when the file holds no key: a different key would decrypt none of the secrets.
 */
export function readOrCreateSecretsKey(directory: string): Uint8Array {
  const file = join(directory, SECRETS_FILE)
  const text = textOf(file) ?? createKeyFile(file)
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === SECRETS_KEY_BYTES) return key
  throw new Error(
    `${file} is damaged: put it back from a backup, or remove it and all notifications`,
  )
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function createKeyFile(file: string): string {
  const text = `${randomBytes(SECRETS_KEY_BYTES).toString('base64')}\n`
  const opened = openSync(file, 'wx', 0o600)
  try {
    writeSync(opened, text)
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
  return text
}
