/** How well a name fits a search, best first. */
export type NameMatch = 'whole' | 'beginning' | 'words'

/** The words of a search, prepared for comparison. */
export type SearchedName = { readonly words: readonly string[]; readonly whole: string }

/** Words in small letters without accents, each after a space: ` am bahnhof` of `Am Bahnhof`. */
export function foldName(name: string): string {
  const plain = name.normalize('NFD').replaceAll(ACCENTS, '').toLowerCase().replaceAll('ß', 'ss')
  return ` ${plain.replaceAll(SEPARATORS, ' ').trim()}`
}

/** Undefined if there is nothing to search for. */
export function searchedName(text: string): SearchedName | undefined {
  const whole = foldName(text)
  const words = whole.split(/(?= )/)
  return whole === ' ' ? undefined : { whole, words }
}

/**
 * Whether each word of the search begins a word of the name or of what is around it, the first one a
 * word of the name: `markt mus` finds Marktstraße in Musterstadt.
 */
export function matchName(
  { words, whole }: SearchedName,
  folded: string,
  around = '',
): NameMatch | undefined {
  const [first = '', ...others] = words
  if (!folded.includes(first)) return undefined
  if (folded === whole) return 'whole'
  if (!others.every((word) => folded.includes(word) || around.includes(word))) return undefined
  return folded.startsWith(first) ? 'beginning' : 'words'
}

const ACCENTS = /\p{M}+/gu
const SEPARATORS = /[\p{P}\p{Z}\p{C}]+/gu
