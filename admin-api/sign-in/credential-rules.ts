import { text, type Rule } from '../http/rule.ts'

/** The e-mail that an operator signs in with. */
export function emailRule(field: string): Rule<string | undefined> {
  return text({
    email: true,
    max: 254,
    fits: isWellFormed,
    expected: `${field} must be an e-mail address of at most 254 characters`,
  })
}

const FEWEST = 12

/** A password that is to be set; one that is only checked may be whatever was typed. */
export function newPasswordRule(field: string): Rule<string | undefined> {
  return text({
    min: FEWEST,
    max: 1024,
    // Six emoji are twelve UTF-16 code units, and easier to guess than twelve characters.
    fits: (password) => isWellFormed(password) && [...password].length >= FEWEST,
    expected: `${field} must be a text of 12 to 1024 characters`,
  })
}

/** What somebody typed in to sign in: it is compared, never kept. */
export function typedRule(field: string): Rule<string | undefined> {
  return text({ max: 1024, expected: `${field} must be a text of 1 to 1024 characters` })
}

/** Half characters become U+FFFD once they are written as UTF-8, and different texts the same. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
