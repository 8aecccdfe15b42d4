/** Of one place in a text: the characters that stand for the same there, capital or small. */
export type Spelling = readonly string[]

/**
 * All ways to write a text, capital and small letters alike, composed and decomposed: what a database
 * looks for that knows neither. Each place stands for one character.
 */
export function spellings(text: string): readonly (readonly Spelling[])[] {
  const composed = text.normalize('NFC')
  const decomposed = text.normalize('NFD')
  const texts = composed === decomposed ? [composed] : [composed, decomposed]
  return texts.map((one) => Array.from(one, sameLetters))
}

function sameLetters(letter: string): Spelling {
  const [small, capital] = [letter.toLowerCase(), letter.toUpperCase()]
  const all = [letter, small, capital, capital.toLowerCase()]
  // Of some letters the other case is two: those are only found as they are written.
  return [...new Set(all)].filter((one) => Array.from(one).length === 1)
}
