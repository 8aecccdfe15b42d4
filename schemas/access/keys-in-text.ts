import { isApiKey } from './api-key.ts'

// The 32 random characters alone reveal a key: the checksum can be computed from them. Lines may
// break after the underscore.
const KEY = /gps_[\s+]*[0-9A-Za-z]{32,38}/g
const KEY_OR_ITS_BEGINNING = /gps_[\s+]*(?:[0-9A-Za-z]{32,38}|[0-9A-Za-z]*$)/g
/** Minimum length of a text that contains a valid key, however it is escaped. */
const SHORTEST = 'gps_'.length + 38

/**
 * The escapes that may represent a character of a key: percent-encoding, repeated in a nested URL;
 * those of JSON and JavaScript, as a whole, so that an escaped backslash starts no other escape;
 * HTML character references.
 */
const ESCAPE =
  /%(?:25)*(?:u00)?([0-9A-Fa-f]{2})|\\(?:u00([0-9A-Fa-f]{2})|x([0-9A-Fa-f]{2})|([^]))|&(?:#0*(\d{2,3})|#[xX]0*([0-9A-Fa-f]{2})|lowbar);/g
/** A truncated escape. */
const CUT_ESCAPE =
  /(?:%(?:25)*(?:u0{0,2})?[0-9A-Fa-f]?|\\(?:u[0-9A-Fa-f]{0,3}|x[0-9A-Fa-f]?)?|&#?\w*)$/
/** An escape may hide another: JSON in a query, a query in JSON. */
const MOST_LAYERS = 4
/** Maximum length of a caller's name that a response repeats. */
const SHOWN = 64
/** A text in Base64 that may hold the random characters, such as the credentials of Basic authentication. */
const BASE64 = /[0-9A-Za-z+/_-]{48,}/g
const BASE64_AT_END = /[0-9A-Za-z+/_-]{8,}$/g

/** Whether a text is or contains a valid API key, even if that is escaped or in Base64. */
export function containsApiKey(text: string): boolean {
  if (text.length < SHORTEST) return false
  const { plain } = unescape(text)
  return (
    holdsKey(plain) || (plain.match(BASE64) ?? []).some((coded) => decodeText(coded).some(holdsKey))
  )
}

function holdsKey(text: string): boolean {
  return (text.match(KEY) ?? []).some((key) => isApiKey(key.replace(/[\s+]/g, '')))
}

/**
 * Masks every API key in a text, even one that is escaped or in Base64. `cut`: the text was truncated, so its
 * end may be the start of a key.
 */
export function maskApiKeys(text: string, { cut }: { cut: boolean }): string {
  const { plain, places } = unescape(cut ? text.replace(CUT_ESCAPE, '') : text)
  const found = findKeyRanges(plain, cut).sort(([a], [b]) => a - b)
  let masked = ''
  let copied = 0
  for (const [begin, end] of found) {
    if (places(begin) < copied) continue
    masked += `${text.slice(copied, places(begin))}gps_…`
    copied = end === plain.length ? text.length : places(end)
  }
  return masked + text.slice(copied)
}

/** The start of a name sent by a caller, safe to repeat in a response. */
export function quoteName(name: string): string {
  return maskApiKeys(name.slice(0, SHOWN), { cut: name.length > SHOWN }).toWellFormed()
}

type Range = readonly [begin: number, end: number]

function findKeyRanges(plain: string, cut: boolean): Range[] {
  const rangeOf = ({ index, 0: { length } }: RegExpExecArray): Range => [index, index + length]
  const keys = cut ? KEY_OR_ITS_BEGINNING : KEY
  const coded = [...plain.matchAll(BASE64)].filter(([token]) =>
    decodeText(token).some(isMatch(KEY)),
  )
  const ends = cut ? [...plain.matchAll(BASE64_AT_END)] : []
  const begun = ends.filter(([token]) => decodeText(token).some(isMatch(KEY_OR_ITS_BEGINNING)))
  return [...plain.matchAll(keys), ...coded, ...begun].map(rangeOf)
}

const isMatch = (pattern: RegExp) => (text: string) => text.search(pattern) !== -1

/** The text behind Base64 whose start is unknown: a path may precede it. */
function decodeText(coded: string): string[] {
  return [0, 1, 2, 3].map((from) => Buffer.from(coded.slice(from), 'base64').toString('latin1'))
}

/** A text without its escapes, and the index in the text of each character. */
function unescape(text: string): { plain: string; places: (at: number) => number } {
  let plain = text
  let places: number[] | undefined
  for (let layer = 0; layer < MOST_LAYERS && plain.search(ESCAPE) !== -1; layer += 1) {
    const before = places
    const kept: number[] = []
    let copied = 0
    let shorter = ''
    const copy = (end: number) => {
      shorter += plain.slice(copied, end)
      for (let at = copied; at < end; at += 1) kept.push(before?.[at] ?? at)
    }
    for (const match of plain.matchAll(ESCAPE)) {
      copy(match.index)
      shorter += characterOf(match)
      kept.push(before?.[match.index] ?? match.index)
      copied = match.index + match[0].length
    }
    copy(plain.length)
    plain = shorter
    places = kept
  }
  return { plain, places: (at) => places?.[at] ?? at }
}

function characterOf([
  ,
  percent,
  unicode,
  hex,
  simple,
  decimal,
  hexReference,
]: RegExpExecArray): string {
  if (simple !== undefined) return 'nrt'.includes(simple) ? '\n' : simple
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  const digits = percent ?? unicode ?? hex ?? hexReference
  return digits === undefined ? '_' : String.fromCharCode(Number.parseInt(digits, 16))
}
