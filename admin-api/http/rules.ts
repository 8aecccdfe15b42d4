import Joi from 'joi'
import { isApiKey } from '../../schemas/api-key.ts'

const NAME_PATTERN =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$'

/** A display name: any text on one line. */
export function nameRule(field: string): Joi.StringSchema {
  return Joi.string()
    .max(100)
    .custom((text: string, helpers) => {
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      const bad = /[\u0000-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed()
      if (bad || text.trim() !== text) return helpers.error('any.invalid')
      return isApiKey(text) ? helpers.error('name.key') : text
    })
    .meta({ openapi: { type: 'string', minLength: 1, maxLength: 100, pattern: NAME_PATTERN } })
    .messages({
      'name.key': `${field} must not be an API key: everybody who may read would see it`,
      '*': `${field} must be a text of 1 to 100 characters, without control characters and without white space at its ends`,
    })
}
