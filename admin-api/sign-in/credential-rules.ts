import Joi from 'joi'

/** The e-mail that an operator signs in with. */
export function emailRule(field: string): Joi.StringSchema {
  return (
    Joi.string()
      // The first operator that the service makes up is admin@localhost.
      .email({ tlds: false, minDomainSegments: 1 })
      .max(254)
      .custom(wellFormed)
      .messages({ '*': `${field} must be an e-mail address of at most 254 characters` })
  )
}

const FEWEST = 12

/** A password that is to be set; one that is only checked may be whatever was typed. */
export function newPasswordRule(field: string): Joi.StringSchema {
  return Joi.string()
    .min(FEWEST)
    .max(1024)
    .custom(wellFormed)
    .custom((text: string, helpers) =>
      // Six emoji are twelve UTF-16 code units, and easier to guess than twelve characters.
      [...text].length < FEWEST ? helpers.error('any.invalid') : text,
    )
    .messages({ '*': `${field} must be a text of 12 to 1024 characters` })
}

/** What somebody typed in to sign in: it is compared, never kept. */
export function typedRule(field: string): Joi.StringSchema {
  const expected = `${field} must be a text of 1 to 1024 characters`
  return Joi.string().max(1024).messages({ '*': expected })
}

/** Half characters become U+FFFD once they are written as UTF-8, and different texts the same. */
function wellFormed(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  return text.isWellFormed() ? text : helpers.error('any.invalid')
}
