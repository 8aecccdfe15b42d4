/** The fields of a query or a form; if a field is repeated, the first counts. */
export type Fields = Readonly<Record<string, string>>

export const NO_FIELDS: Fields = {}

/** A text that is neither a valid device id nor a number. */
export const ILL_FORMED = '\ud800'

/** Reads `a=1&b=2`. */
export function parseFields(text: string): Fields {
  if (text === '') return NO_FIELDS
  const fields: Record<string, string> = {}
  for (let from = 0; from <= text.length;) {
    let to = text.indexOf('&', from)
    if (to === -1) to = text.length
    let equals = text.indexOf('=', from)
    if (equals === -1 || equals > to) equals = to
    const name = decodePercent(text.slice(from, equals))
    // `constructor` and others exist before they are sent; `__proto__` cannot be set to a text.
    if (fields[name] === undefined || !Object.hasOwn(fields, name)) {
      fields[name] = decodePercent(text.slice(equals + 1, to))
    }
    from = to + 1
  }
  return fields
}

/**
 * Decodes percent-encoding. Bytes that are not UTF-8 produce a text that is invalid everywhere:
 * decoded to U+FFFD they could be another device's id.
 */
export function decodePercent(encoded: string): string {
  if (!/[%+]/.test(encoded)) return encoded
  const text = encoded.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that does not start a byte is taken literally.
    const lenient = text.replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
    try {
      return decodeURIComponent(lenient)
    } catch {
      return ILL_FORMED
    }
  }
}
