/** The value of a JSON text; undefined if it is none. */
export function jsonIn(text: string): unknown {
  // Rows without attributes: an exception for each would take a third of an import's time.
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
