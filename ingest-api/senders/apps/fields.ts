/** The fields of a query or a form; of one that comes twice the first. */
export type Fields = Readonly<Record<string, string>>

export const NO_FIELDS: Fields = {}

/** What no device id and no number is. */
const ILL_FORMED = '\ud800'

/** Reads `a=1&b=2`. */
export function fieldsIn(text: string): Fields {
  if (text === '') return NO_FIELDS
  const fields: Record<string, string> = {}
  for (let from = 0; from <= text.length;) {
    let to = text.indexOf('&', from)
    if (to === -1) to = text.length
    let equals = text.indexOf('=', from)
    if (equals === -1 || equals > to) equals = to
    const name = decoded(text.slice(from, equals))
    // So nothing that every object has is overwritten either.
    if (fields[name] === undefined) fields[name] = decoded(text.slice(equals + 1, to))
    from = to + 1
  }
  return fields
}

/**
 * The text behind percent-encoding. Bytes that are no UTF-8 give a text that nothing takes: decoded
 * to U+FFFD they could be the id of another device.
 */
export function decoded(encoded: string): string {
  if (!/[%+]/.test(encoded)) return encoded
  const text = encoded.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that begins no byte stands for itself.
    const lenient = text.replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
    try {
      return decodeURIComponent(lenient)
    } catch {
      return ILL_FORMED
    }
  }
}
