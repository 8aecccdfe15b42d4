import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import { text, type Rule } from './rule.ts'

const NAME_PATTERN =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$'

/** A name that people give to things: any text without line breaks. */
export function nameRule(field: string, { max = 100 } = {}): Rule<string | undefined> {
  return text({
    max,
    fits: (name) => isOneLine(name) && name.trim() === name,
    refused: {
      is: containsApiKey,
      message: `${field} must not be or contain an API key: everybody who may read would see it`,
    },
    openapi: { type: 'string', minLength: 1, maxLength: max, pattern: NAME_PATTERN },
    expected: `${field} must be a text of 1 to ${max} characters, without control characters and without white space at its ends`,
  })
}

/** No control characters, and no unpaired surrogates. */
export function isOneLine(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u001f\u007f-\u009f]/.test(text) && text.isWellFormed()
}
