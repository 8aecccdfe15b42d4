/** The words of a search, prepared for comparison. */
export type SearchedName = { readonly words: readonly string[]; readonly whole: string }

/**
 * Converts a name to lower-case words without accents, each after a space: ` am bahnhof` of `Am
 * Bahnhof`.
 */
export function foldName(name: string): string {
  const plain = name.normalize('NFD').replaceAll(ACCENTS, '').toLowerCase().replaceAll('ß', 'ss')
  return ` ${plain.replaceAll(SEPARATORS, ' ').trim()}`
}

/** Undefined if there is nothing to search for. */
export function searchKeyOf(text: string): SearchedName | undefined {
  const whole = foldName(text)
  return whole === ' ' ? undefined : { whole, words: whole.split(/(?= )/) }
}

/**
 * How well a folded name fits: 0 as a whole, 1 if it begins so, 2 if each word of the search begins
 * a word of the name or, after the first one, of what is around it: `markt mus` finds Marktstraße
 * in Musterstadt.
 */
export function matchName(
  { words, whole }: SearchedName,
  folded: string,
  around: () => string | undefined = () => undefined,
): number | undefined {
  const [first = '', ...others] = words
  if (!folded.includes(first)) return undefined
  if (folded === whole) return 0
  const missing = others.filter((word) => !folded.includes(word))
  if (missing.length > 0) {
    const other = foldName(around() ?? '')
    if (!missing.every((word) => other.includes(word))) return undefined
  }
  return folded.startsWith(first) ? 1 : 2
}

const ACCENTS = /\p{M}+/gu
const SEPARATORS = /[\p{P}\p{Z}\p{C}]+/gu
