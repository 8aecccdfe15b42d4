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

/** How many of the words the device has as whole words: those with more come first. */
export function wholeWords(device: SearchKey, words: readonly SearchKey[]): number {
  return words.filter(({ spaced }) => device.spaced.includes(spaced)).length
}

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
