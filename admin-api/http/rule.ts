import Joi from 'joi'
import { invalidParams, type Fault } from '../../runtime/errors.ts'
import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import { anObject, valuesSchema } from './any-object.ts'

/**
 * The values that a field may hold, and the type they are parsed to. Only the functions below make
 * rules, so that each rule has its own type; `undefined` in the type: the field may be absent.
 */
export type Rule<Made> = {
  /** For the OpenAPI document. */
  readonly schema: Joi.Schema
  required(): Rule<Exclude<Made, undefined>>
  /** Also accepts `null`, unchanged. */
  orNull(): Rule<Made | null>
  /** Treats `null` as absence. */
  nullIsAbsence(): Rule<Made>
  withDefault(
    value: Exclude<Made, undefined> & (string | number | boolean),
  ): Rule<Exclude<Made, undefined>>
  described(text: string): Rule<Made>
  /** `now`: milliseconds since the epoch. */
  check(
    value: unknown,
    where: { readonly field: string; readonly now: number },
  ): { readonly made: Made } | { readonly faults: readonly Fault[] }
}

/** The rules of a query or a body, by field. */
export type Rules = { readonly [field: string]: Rule<unknown> }

type MadeOf<R> = R extends Rule<infer Made> ? Made : never
type Optional<R extends Rules> = {
  [Field in keyof R]: undefined extends MadeOf<R[Field]> ? Field : never
}[keyof R]

/** The parsed fields of a query or body; absent fields stay absent. */
export type InputOf<R extends Rules> = {
  readonly [Field in Exclude<keyof R, Optional<R>>]: MadeOf<R[Field]>
} & { readonly [Field in Optional<R>]?: Exclude<MadeOf<R[Field]>, undefined> }

/** Checks a value further, in ways that Joi cannot; its faults name parts of the value. */
type Refine = (
  value: unknown,
  field: string,
) => { readonly made: unknown } | { readonly faults: readonly Fault[] }

function rule<Made>(schema: Joi.Schema, refine?: Refine): Rule<Made> {
  return {
    schema,
    required: () => rule(schema.required(), refine),
    orNull: () => rule(schema.allow(null), refine),
    nullIsAbsence: () => rule(schema.empty(null), refine),
    withDefault: (value) => rule(schema.default(value), refine),
    described: (text) => rule(schema.description(text), refine),
    check(value, { field, now }) {
      const options = { abortEarly: false, convert: false, context: { now } }
      const result: Joi.ValidationResult<unknown> = schema.validate(value, options)
      if (result.error === undefined) {
        const { value: made } = result
        if (refine === undefined || made === undefined || made === null)
          return { made: made as Made }
        return refine(made, field) as
          { readonly made: Made } | { readonly faults: readonly Fault[] }
      }
      // All Joi knows about such a value is whether it is missing or null.
      const judged = refine?.(value, field)
      if (judged !== undefined && 'faults' in judged) return judged
      const faults = result.error.details.map(({ path, message }) => ({
        field: formatFieldPath([field, ...path]),
        message,
      }))
      return { faults }
    },
  }
}

/**
 * Parses the given values by the rules of their fields.
 *
 * @throws {ApiError} 400 naming each faulty field once, including those in `faults`.
 */
export function inputOf<R extends Rules>(
  rules: R,
  {
    read,
    now,
    faults = [],
  }: {
    readonly read: (field: string) => unknown
    readonly now: number
    readonly faults?: readonly Fault[]
  },
): InputOf<R> {
  const checked = Object.entries(rules).map(
    ([field, rule]) => [field, rule.check(read(field), { field, now })] as const,
  )
  const ownFaults = checked.flatMap(([, result]) => ('faults' in result ? result.faults : []))
  // A list can be faulty in each of its items; its field is still named only once.
  const perField = new Map([...faults, ...ownFaults].map((fault) => [fault.field, fault]))
  if (perField.size > 0) throw invalidParams([...perField.values()])
  const made = checked.flatMap(([field, result]) =>
    'made' in result && result.made !== undefined ? [[field, result.made] as const] : [],
  )
  return Object.fromEntries(made) as InputOf<R>
}

/** Nested fields are named `outer.inner`; an item of a list has the name of the list. */
function formatFieldPath(path: readonly (string | number)[]): string {
  const inList = path.findIndex((step) => typeof step === 'number')
  const steps = inList === -1 ? path : path.slice(0, inList)
  return fieldPath(steps.map(String))
}

/** The message for a value that breaks a rule, and the OpenAPI schema that replaces Joi's. */
type Wording = { readonly expected: string; readonly openapi?: JsonSchema }

function applyWording<S extends Joi.Schema>(schema: S, { expected, openapi }: Wording): S {
  const named = schema.messages({ '*': expected }) as S
  return openapi === undefined ? named : (named.meta({ openapi }) as S)
}

/** A text, unchanged; its length is in UTF-16 code units. */
export function text({
  min = 1,
  max,
  email = false,
  fits = () => true,
  refused,
  ...rest
}: Wording & {
  readonly min?: number
  readonly max: number
  readonly email?: boolean
  readonly fits?: (text: string) => boolean
  /** Texts of the right form that are rejected with their own message. */
  readonly refused?: { readonly is: (text: string) => boolean; readonly message: string }
}): Rule<string | undefined> {
  const any = min > 1 ? Joi.string().min(min).max(max) : Joi.string().max(max)
  // The generated first operator is admin@localhost.
  const shaped = email ? any.email({ tlds: false, minDomainSegments: 1 }) : any
  const checked = shaped.custom((text: string, helpers) => {
    if (!fits(text)) return helpers.error('any.invalid')
    return refused?.is(text) === true ? helpers.error('text.refused') : text
  })
  const named = refused ? checked.messages({ 'text.refused': refused.message }) : checked
  return rule(applyWording(named, rest))
}

/** A value in a textual format: `parse` returns undefined for malformed text. */
export function parsedValue<T extends NonNullable<unknown>>({
  parse,
  ...rest
}: Wording & {
  readonly parse: (text: string, now: number) => T | undefined
}): Rule<T | undefined> {
  const checked = Joi.string().custom((text: string, helpers) => {
    const { now } = helpers.prefs.context as { now: number }
    return parse(text, now) ?? helpers.error('any.invalid')
  })
  return rule(applyWording(checked, rest))
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  rest: Wording,
): Rule<Choice | undefined> {
  return rule(applyWording(Joi.string().valid(...choices), rest))
}

export function flag(field: string): Rule<boolean | undefined> {
  return rule(applyWording(Joi.boolean(), { expected: `${field} must be true or false` }))
}

type Range = Wording & { readonly min: number; readonly max: number }

export function wholeNumber({ min, max, ...rest }: Range): Rule<number | undefined> {
  return rule(applyWording(Joi.number().integer().min(min).max(max), rest))
}

export function numberBetween({ min, max, ...rest }: Range): Rule<number | undefined> {
  return rule(applyWording(Joi.number().min(min).max(max), rest))
}

/**
 * A list of items, distinct unless they `mayRepeat`, and at least one unless `min` says otherwise.
 */
export function list<Item>(
  items: Rule<Item>,
  {
    min = 1,
    max,
    mayRepeat = false,
    ...rest
  }: Wording & { readonly min?: number; readonly max?: number; readonly mayRepeat?: boolean },
): Rule<readonly Exclude<Item, undefined>[] | undefined> {
  const some = Joi.array().items(items.schema).min(min)
  const any = mayRepeat ? some : some.unique()
  return rule(applyWording(max === undefined ? any : any.max(max), rest))
}

export function object<Fields extends Rules>(
  fields: Fields,
  rest: Wording,
): Rule<InputOf<Fields> | undefined> {
  return rule(applyWording(Joi.object(schemasOf(fields)), rest))
}

/** An object with up to `max` fields of any name, whose values follow one rule. */
export function valuesOf<Value>(
  values: Rule<Value>,
  { max, ...rest }: Wording & { readonly max: number },
): Rule<Readonly<Record<string, Exclude<Value, undefined>>> | undefined> {
  return rule(applyWording(valuesSchema(values.schema, max), rest))
}

/** An object with any fields. */
export function anyObject(wording: Wording): Rule<Readonly<Record<string, unknown>> | undefined> {
  return rule(applyWording(anObject(), wording))
}

/** A value checked by `parse`, whose faults name parts of the value. */
export function parsedParts<Made>(
  parse: (
    value: unknown,
    field: string,
  ) => { readonly made: Made } | { readonly faults: readonly Fault[] },
  openapi: JsonSchema,
): Rule<Made | undefined> {
  return rule(Joi.any().invalid(null).meta({ openapi }), parse)
}

export function schemasOf(rules: Rules): { [field: string]: Joi.Schema } {
  return Object.fromEntries(Object.entries(rules).map(([field, { schema }]) => [field, schema]))
}
