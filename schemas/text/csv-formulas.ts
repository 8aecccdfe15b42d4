/**
 * Spreadsheets evaluate cells that look like formulas. Where the separator is a semicolon, as in
 * many countries, a new cell also starts after each semicolon.
 */
const FORMULA = /(^|;)(?='*[=+\-@\t\r＝＋－＠])/g
const GUARDED = /(^|;)'(?='*[=+\-@\t\r＝＋－＠])/g

/**
 * Puts an apostrophe before text that looks like a formula, also after leading apostrophes, so that
 * none is lost when the file is read again.
 */
export function guardFormulas(text: string): string {
  return text.replace(FORMULA, "$1'")
}

/** Removes the apostrophes of `guardFormulas`. */
export function unguardFormulas(text: string): string {
  return text.replace(GUARDED, '$1')
}
