/** The equivalent characters for one place in a text, upper and lower case. */
export type Spelling = readonly string[]

/**
 * All spellings of a text, in upper and lower case, composed and decomposed, for databases that
 * cannot compare these. Each place represents one character.
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
  // Some letters become two in the other case: those only match in the case given.
  return [...new Set(all)].filter((one) => Array.from(one).length === 1)
}
