import Joi from 'joi'
import { isJsonObject } from '../../schemas/text/json-object.ts'

// Joi copies its own objects, and the copy lacks a field called `__proto__`, which may be the id of a device.

/** An object with any fields, as it was sent. */
export function anObject(): Joi.AnySchema {
  return Joi.any().custom((value: unknown, { error }) =>
    isJsonObject(value) ? value : error('any.invalid'),
  )
}

/** An object with up to `max` fields of any name, whose values follow one schema. */
export function valuesSchema(values: Joi.Schema, max: number): Joi.AnySchema {
  const required = values.required()
  const extended = Joi.extend({
    type: 'values',
    base: Joi.any(),
    validate(
      value: unknown,
      { error, state, prefs: { convert = true, context = {} } }: Joi.CustomHelpers,
    ) {
      if (!isJsonObject(value) || Object.keys(value).length > max) {
        return { value, errors: error('any.invalid') }
      }
      const errors = Object.entries(value).flatMap(([name, one]) => {
        const [fault] = required.validate(one, { convert, context }).error?.details ?? []
        const at = state.localize?.([...(state.path ?? []), name])
        return fault === undefined ? [] : error('values.fault', { fault: fault.message }, at)
      })
      return errors.length === 0 ? { value } : { value, errors }
    },
  }) as { values(): Joi.AnySchema }
  return extended.values().messages({ 'values.fault': '{#fault}' })
}
