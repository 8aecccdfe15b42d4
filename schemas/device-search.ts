/** A text as searches compare it: case, separators and leading zeros ignored. */
export type SearchKey = {
  /** Without separators: `van7` of `Van-07`. */
  readonly joined: string
  /** Its words, each between two spaces: ` van 7 `. */
  readonly spaced: string
}

/** The key of a device, by which its name and id are found. */
export function deviceSearchKey(name: string | null, deviceId: string): SearchKey {
  const [byName, byId] = [searchKey(name ?? ''), searchKey(deviceId)]
  return {
    joined: `${byName.joined}\n${byId.joined}`,
    spaced: `${byName.spaced}\n${byId.spaced}`,
  }
}

/** The words of a search; every one must be found. */
export function searchWords(text: string): readonly SearchKey[] {
  return text
    .split(/\s+/)
    .map((word) => searchKey(word.replace(UNFINISHED_NUMBER, '')))
    .filter(({ joined }) => joined !== '')
}

export function isFound(device: SearchKey, words: readonly SearchKey[]): boolean {
  return words.every(({ joined }) => device.joined.includes(joined))
}

/** How many of the words the device has as whole words. */
export function wholeWords(device: SearchKey, words: readonly SearchKey[]): number {
  return words.filter(({ spaced }) => device.spaced.includes(spaced)).length
}

/**
 * The rank of a device among those found, the least first: those with more whole words, then those
 * with shorter labels.
 * @param label what people call the device: its name, or else its id.
 */
export function matchRank({ whole, label }: { whole: number; label: string }): number {
  return label.length - whole * LONGER_THAN_LABELS
}

/**
 * A quick look at name and id of a device before its search key is made: the most words that it may
 * have as whole ones; undefined only if it is not found.
 */
export function quickLook(words: readonly SearchKey[]): (text: string) => number | undefined {
  const looks = words.map(({ joined, spaced }) => ({
    // Other letters may be in between.
    letters: Array.from(joined.replaceAll(NOT_PLAIN, '')),
    whole: wholePattern(spaced.trim().split(' ')[0] ?? ''),
  }))
  return (text) => {
    const small = text.toLowerCase()
    let most = 0
    for (const { letters, whole } of looks) {
      let end = 0
      for (const letter of letters) {
        end = small.indexOf(letter, end) + 1
        if (end === 0) return undefined
      }
      if (whole === undefined || whole.test(small)) most += 1
    }
    return most
  }
}

/** Matches texts in which a word may be whole. */
function wholePattern(word: string): RegExp | undefined {
  if (/^[a-z]+$/.test(word)) return new RegExp(`(?<![a-z])${word}(?![a-z])`)
  return /^\d+$/.test(word) ? new RegExp(`${word}(?!\\d)`) : undefined
}

const LONGER_THAN_LABELS = 1_000
/** All but the letters and digits that no normalization changes. */
const NOT_PLAIN = /[^a-z0-9]/g

const SEPARATORS = /[\p{P}\p{Z}\p{C}]+/u
const LEADING_ZEROS = /(?<!\d)0+(?=\d)/g
/** Somebody who types `van-07` has typed `van-0` before. */
const UNFINISHED_NUMBER = /(?<!\d)0+$/
/** `van7` has the same words as `van-7`. */
const BETWEEN_LETTER_AND_DIGIT = /(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu

function searchKey(text: string): SearchKey {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(LEADING_ZEROS, '')
    .replaceAll(BETWEEN_LETTER_AND_DIGIT, ' ')
    .split(SEPARATORS)
    .filter(Boolean)
  return { joined: words.join(''), spaced: words.length === 0 ? '' : ` ${words.join(' ')} ` }
}
