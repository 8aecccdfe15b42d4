import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SECRETS_KEY_BYTES } from './sealed-secrets.ts'

/** Part of the data, and of their backup. */
export const SECRETS_FILE = 'secrets.key'

/**
 * The key in the data directory, made at the first start.
 * @throws {Error} when the file holds no key: another one would open none of the secrets.
 */
export function secretsKeyIn(directory: string): Uint8Array {
  const file = join(directory, SECRETS_FILE)
  const text = textOf(file) ?? made(file)
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === SECRETS_KEY_BYTES) return key
  throw new Error(
    `${file} is damaged: put it back from a backup, or remove it and all subscriptions`,
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

function made(file: string): string {
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
