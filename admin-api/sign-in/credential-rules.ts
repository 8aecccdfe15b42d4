import Joi from 'joi'

/** An operator's e-mail for signing in. */
export function emailRule(field: string): Joi.StringSchema {
  return (
    Joi.string()
      // The generated first operator is admin@localhost.
      .email({ tlds: false, minDomainSegments: 1 })
      .max(254)
      .custom(wellFormed)
      .messages({ '*': `${field} must be an e-mail address of at most 254 characters` })
  )
}

const FEWEST = 12

/** The rule for a new password; one that is only checked may be any text. */
export function newPasswordRule(field: string): Joi.StringSchema {
  return Joi.string()
    .min(FEWEST)
    .max(1024)
    .custom(wellFormed)
    .custom((text: string, helpers) =>
      // Six emoji are twelve UTF-16 code units, but easier to guess than twelve characters.
      [...text].length < FEWEST ? helpers.error('any.invalid') : text,
    )
    .messages({ '*': `${field} must be a text of 12 to 1024 characters` })
}

/** Text typed to sign in: compared, never stored. */
export function typedRule(field: string): Joi.StringSchema {
  const expected = `${field} must be a text of 1 to 1024 characters`
  return Joi.string().max(1024).messages({ '*': expected })
}

/** Lone surrogates become U+FFFD in UTF-8, which would make different texts equal. */
function wellFormed(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  return text.isWellFormed() ? text : helpers.error('any.invalid')
}
