import type Joi from 'joi'

/** An empty variable counts as unset. Messages never contain the value of a secret. */
export function variable<S extends Joi.Schema>(
  name: string,
  schema: S,
  { expected, secret = false }: { expected: string; secret?: boolean },
): S {
  const got = secret ? '' : ', not "{{#value}}"'
  // Braces in a message are Joi's own placeholders unless escaped.
  const told = expected.replace(/[{}]/g, String.raw`\$&`)
  return schema.empty('').messages({
    '*': `${name} must be ${told}${got}`,
    'any.required': `${name} must be ${told}`,
  }) as S
}
