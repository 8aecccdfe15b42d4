/** A text as compared by searches: case, separators and leading zeros are ignored. */
export type SearchKey = {
  /** Without separators: `van7` of `Van-07`. */
  readonly joined: string
  /** The label's words, each between two spaces: ` van 7 `. */
  readonly spaced: string
  /**
   * The label's separators, in any order. They matter only in searches that consist of separators.
   */
  readonly separators: string
}

/** Prepares a device's name and id for comparison with searches. */
export function deviceSearchKey(name: string | null, deviceId: string): SearchKey {
  const [byName, byId] = [searchKey(name ?? ''), searchKey(deviceId)]
  return {
    joined: `${byName.joined}\n${byId.joined}`,
    spaced: `${byName.spaced}\n${byId.spaced}`,
    separators: byName.separators + byId.separators,
  }
}

/**
 * The words of a search; every word must be found. Separators count only in a search that has
 * nothing else: `(` finds texts with a parenthesis.
 */
export function searchWords(text: string): readonly SearchKey[] {
  const words = text.split(/\s+/).filter(Boolean).map(searchedKey)
  const named = words.filter(({ joined }) => joined !== '')
  return named.length > 0 ? named.map((word) => ({ ...word, separators: '' })) : words
}

function searchedKey(word: string): SearchKey {
  return searchKey(word.replace(UNFINISHED_NUMBER, ''))
}

export function isFound(device: SearchKey, words: readonly SearchKey[]): boolean {
  return words.every(
    ({ joined, separators }) =>
      device.joined.includes(joined) &&
      (separators === '' || Array.from(separators).every((one) => device.separators.includes(one))),
  )
}

/** How many of the words occur as whole words. */
export function wholeWords(device: SearchKey, words: readonly SearchKey[]): number {
  return words.filter(({ spaced }) => device.spaced.includes(spaced)).length
}

/**
 * Returns a device's rank among the matches, lowest first: more whole words come first, then
 * shorter labels.
 * @param label the device's name, or else its id.
 */
export function matchRank({ whole, label }: { whole: number; label: string }): number {
  return label.length - whole * LONGER_THAN_LABELS
}

/**
 * A quick check of a device's name and id before its search key is built: the maximum number of
 * words that may match as whole words; undefined only if it does not match.
 */
export function quickLook(words: readonly SearchKey[]): (text: string) => number | undefined {
  const looks = words.map(({ joined, spaced, separators }) => ({
    // Separators and zeros may lie between the letters.
    letters: Array.from(joined),
    separators: Array.from(separators),
    whole: wholePattern(spaced.trim().split(' ')[0] ?? ''),
  }))
  return (text) => {
    const folded = foldCase(text)
    let most = 0
    for (const { letters, separators, whole } of looks) {
      let end = 0
      for (const letter of letters) {
        end = folded.indexOf(letter, end) + letter.length
        if (end < letter.length) return undefined
      }
      if (!separators.every((one) => folded.includes(one))) return undefined
      if (whole === undefined || whole.test(folded)) most += 1
    }
    return most
  }
}

/** Matches texts in which a word may occur as a whole. */
function wholePattern(word: string): RegExp | undefined {
  if (/^[a-z]+$/.test(word)) return new RegExp(`(?<![a-z])${word}(?![a-z])`)
  return /^\d+$/.test(word) ? new RegExp(`${word}(?!\\d)`) : undefined
}

const LONGER_THAN_LABELS = 1_000

const SEPARATORS = /[\p{P}\p{Z}\p{C}]+/u
const OTHERS = /[^\p{P}\p{Z}\p{C}]+/gu
const LEADING_ZEROS = /(?<!\d)0+(?=\d)/g
/** Somebody typing `van-07` has typed `van-0` before. */
const UNFINISHED_NUMBER = /(?<!\d)0+$/
/** `van7` has the same words as `van-7`. */
const BETWEEN_LETTER_AND_DIGIT = /(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu

function searchKey(text: string): SearchKey {
  const folded = foldCase(text)
  const words = folded
    .replaceAll(LEADING_ZEROS, '')
    .replaceAll(BETWEEN_LETTER_AND_DIGIT, ' ')
    .split(SEPARATORS)
    .filter(Boolean)
  return {
    joined: words.join(''),
    spaced: words.length === 0 ? '' : ` ${words.join(' ')} `,
    separators: folded.replaceAll(OTHERS, ''),
  }
}

// eslint-disable-next-line no-control-regex -- the texts that only one case conversion changes
const ASCII = /^[\u0000-\u007f]*$/

/**
 * Ignoring case, by Unicode's folding: `straße` equals `strasse`, and `İ` equals `i`, which has a
 * dot anyway.
 */
function foldCase(text: string): string {
  const small = text.toLowerCase()
  if (ASCII.test(small)) return small
  const folded = small.toUpperCase().toLowerCase()
  return folded.normalize('NFC').replaceAll('i\u0307', 'i').replaceAll('ς', 'σ')
}

/**
 * The columns that devices can be sorted by; a database stores them, so that a page need not read
 * all devices' settings.
 */
export const DEVICE_SORTS = ['deviceId', 'lastSeenAt', 'firstSeenAt'] as const

export type DeviceSort = (typeof DEVICE_SORTS)[number]

/** The value of a device in the column it is sorted by; null if that is the deviceId. */
export type SortValue = number | null

export function compareSortValues(a: SortValue, b: SortValue, order: 'asc' | 'desc'): number {
  const compared = (a ?? 0) - (b ?? 0)
  return order === 'asc' ? compared : -compared
}
