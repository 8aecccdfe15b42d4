import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^gps_[0-9A-Za-z]{38}$/

/** A new secret: `gps_`, 32 random base62 characters, and a checksum of 6. */
export function newApiKey(): string {
  const random = Array.from({ length: 32 }, () => ALPHABET[randomInt(62)]).join('')
  return `gps_${random}${checksum(`gps_${random}`)}`
}

/** Whether a text has the shape and the checksum of an API key; other texts need no look-up. */
export function isApiKey(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, -6)))
}

/** The stored form of a secret: SHA-256. 190 random bits need no slow hash. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Returns a key's first and last characters: enough to distinguish keys, too few to use one. */
export function keyHint(key: string): string {
  return `${key.slice(0, 8)}…${key.slice(-4)}`
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < 6; place += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
