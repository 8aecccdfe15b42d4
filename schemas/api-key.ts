import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^gps_[0-9A-Za-z]{38}$/
// The 32 random characters alone give a key away: the checksum can be computed from them. The underscore
// may be percent-encoded in a URL (twice in a nested one) and an entity in HTML; lines break after it.
const UNDERSCORE = String.raw`(?:_|%(?:25)*5[Ff]|&(?:#0*95|#[xX]0*5[Ff]|lowbar);)`
const BREAK = String.raw`(?:\s|\\[nrt]|%20|\+)*`
const KEY = new RegExp(`gps${UNDERSCORE}${BREAK}[0-9A-Za-z]{32,38}`, 'g')
const KEY_OR_ITS_BEGINNING = new RegExp(
  `gps${UNDERSCORE}${BREAK}(?:[0-9A-Za-z]{32,38}|[0-9A-Za-z]*$)`,
  'g',
)

/** Matches whole escapes, so that an escaped backslash does not begin another. */
const ESCAPE = /\\(?:u00([0-9A-Fa-f]{2})|[^])/g
const CUT_ESCAPE = /\\(?:u[0-9A-Fa-f]{0,3})?$/

/** A new secret: `gps_`, 32 random base62 characters, and a checksum of 6. */
export function newApiKey(): string {
  const random = Array.from({ length: 32 }, () => ALPHABET[randomInt(62)]).join('')
  return `gps_${random}${checksum(`gps_${random}`)}`
}

/** Whether a text has the shape and the checksum of an API key; other texts need no look-up. */
export function isApiKey(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, -6)))
}

/** Whether a text contains a valid API key. */
export function containsApiKey(text: string): boolean {
  return text.includes('gps_') && (text.match(KEY) ?? []).some(isApiKey)
}

/**
 * Masks every API key in a text, even one hidden by JSON escapes (`\u0067ps_…`) or by a percent-encoded
 * underscore. `cut`: the text was truncated, so its end may be the beginning of a key.
 */
export function withoutApiKeys(text: string, { cut }: { cut: boolean }): string {
  const masked = text.replace(cut ? KEY_OR_ITS_BEGINNING : KEY, 'gps_…')
  if (!masked.includes('\\')) return masked
  const plain = withoutNeedlessEscapes(masked, { cut })
  const maskedPlain = plain.replace(cut ? KEY_OR_ITS_BEGINNING : KEY, 'gps_…')
  return maskedPlain === plain ? masked : maskedPlain
}

/** The same JSON with the characters of API keys unescaped. */
function withoutNeedlessEscapes(text: string, { cut }: { cut: boolean }): string {
  const whole = cut ? text.replace(CUT_ESCAPE, '') : text
  return whole.replace(ESCAPE, (escape, digits?: string) => {
    if (digits === undefined) return escape
    const character = String.fromCharCode(Number.parseInt(digits, 16))
    return /[0-9A-Za-z_]/.test(character) ? character : escape
  })
}

/** The stored form of a secret: SHA-256. 190 random bits need no slow hash. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** First and last characters: enough to tell keys apart, too few to use one. */
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
