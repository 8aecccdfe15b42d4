import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { text, type Rule } from '../http/rule.ts'

/** The e-mail that an operator signs in with. */
export function emailRule(field: string): Rule<string | undefined> {
  return text({
    email: true,
    max: 254,
    fits: (email) => isWellFormed(email) && !containsApiKey(email),
    expected: `${field} must be an e-mail address of at most 254 characters`,
  })
}

const FEWEST = 12

/** A new password; a password that is only checked may be any typed text. */
export function newPasswordRule(field: string): Rule<string | undefined> {
  return text({
    min: FEWEST,
    max: 1024,
    // Six emoji are twelve UTF-16 code units, and easier to guess than twelve characters.
    fits: (password) => isWellFormed(password) && [...password].length >= FEWEST,
    expected: `${field} must be a text of 12 to 1024 characters`,
  })
}

/** A field of an operator, in a response. */
export const MUST_CHANGE_PASSWORD: JsonSchema = {
  type: 'boolean',
  description:
    'The password was generated: until a new one is chosen, only `/session` can be called',
}

/** Text typed in to sign in: it is compared, never stored. */
export function typedRule(field: string): Rule<string | undefined> {
  return text({ max: 1024, expected: `${field} must be a text of 1 to 1024 characters` })
}

/** Unpaired surrogates become U+FFFD in UTF-8, which makes different texts equal. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
