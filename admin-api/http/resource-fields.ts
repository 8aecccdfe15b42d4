import { jsonSchemaOf, objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Caller } from './caller.ts'
import { wholeNumber, type InputOf, type Rule, type Rules } from './rule.ts'
import { isoTime, TIME } from './views.ts'

/** The field's current value as a caller sees it; undefined if there is none. */
type View<Item> = (item: Item, caller: Caller, now: number) => unknown

type Shown<Item> = {
  /**
   * The schema in responses; without it, no response has the field. Times are numbers in items and
   * texts in responses.
   */
  readonly shown?: JsonSchema
  /** By default the item's value is used. */
  readonly view?: View<Item>
  /** Responses omit it if it has no value; otherwise it is null there. */
  readonly isOptional?: boolean
  /** Only in the response to the creating call, whose item has it. */
  readonly isSecret?: boolean
  /** The value in the audit, instead of the item's. */
  readonly audited?: (item: Item) => unknown
}

/**
 * A field of a resource: the values that calls may set it to, and how responses and the audit show
 * it.
 */
export type ResourceField<Item> = Shown<Item> & {
  readonly created?: Rule<unknown>
  readonly changed?: Rule<unknown>
}

/** The fields of a resource, in the order of its responses. */
export type ResourceFields<Item> = { readonly [name: string]: ResourceField<Item> }

/** A field that must be set on creation. Responses show the type of its rule, without bounds. */
export function required<Made, Item = unknown>(rule: Rule<Made>, shown: Shown<Item> = {}) {
  return { shown: typeOf(rule), created: rule.required(), changed: rule, ...shown }
}

/** A field that may be omitted, and that `null` removes. */
export function optional<Made, Item = unknown>(rule: Rule<Made>, shown: Shown<Item> = {}) {
  const rules = { created: rule.nullIsAbsence(), changed: rule.orNull() }
  return { shown: typeOf(rule), ...rules, isOptional: true, ...shown }
}

export function withDefault<Made>(rule: Rule<Made>, value: DefaultOf<Made>) {
  const created = rule.nullIsAbsence().withDefault(value)
  return { shown: typeOf(rule), created, changed: rule }
}

type DefaultOf<Made> = Exclude<Made, undefined> & (string | number | boolean)

/** A field that no call can set. */
export function readOnly<Item = unknown>(schema: JsonSchema, shown: Shown<Item> = {}) {
  return { shown: schema, ...shown }
}

export const ID = readOnly({ type: 'string', description: 'ULID' })

/** In the body of a change: the revision that the caller has seen. */
export const SEEN_REVISION = wholeNumber({
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  expected: 'revision must be the whole number that the last read showed',
}).described(
  'The revision that the change is based on: 409 if it is no longer current; `details` name the fields changed since. If absent, the change is always made',
)

/** The last fields of a versioned resource. */
export const VERSION_FIELDS = {
  revision: {
    ...readOnly({ type: 'integer', description: 'Increases with every change' }),
    changed: SEEN_REVISION,
  },
  createdAt: readOnly(TIME),
  changedAt: readOnly(TIME),
}

function typeOf({ schema }: { readonly schema: Rule<unknown>['schema'] }): JsonSchema {
  return dropBounds(jsonSchemaOf(schema))
}

function dropBounds(schema: JsonSchema): JsonSchema {
  const { type, items } = schema
  if (type === undefined) return schema
  return items === undefined ? { type } : { type, items: dropBounds(items as JsonSchema) }
}

type Call = 'created' | 'changed'

type RulesOf<F, C extends Call> = {
  readonly [
    Name in keyof F as F[Name] extends { readonly [_ in C]: Rule<unknown> } ? Name : never
  ]: F[Name] extends { readonly [_ in C]: infer R } ? R : never
}

/** The parsed body of a call that creates or changes a resource. */
export type BodyOf<F, C extends Call> =
  RulesOf<F, C> extends infer R extends Rules ? InputOf<R> : never

/** The rules for a call's body. */
export function rulesOf<F extends ResourceFields<never>, C extends Call>(
  fields: F,
  call: C,
): RulesOf<F, C> {
  const rules = Object.entries(fields).flatMap(([name, { [call]: rule }]) =>
    rule === undefined ? [] : [[name, rule] as const],
  )
  return Object.fromEntries(rules) as unknown as RulesOf<F, C>
}

/** The schema of a response. `title` names it, and `secrets` the response that includes them. */
export function schemaOf(
  fields: ResourceFields<never>,
  { title, secrets = false }: { readonly title: string; readonly secrets?: boolean },
): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  const optional: string[] = []
  for (const [name, { shown, isOptional, isSecret }] of Object.entries(fields)) {
    if (shown === undefined || (isSecret === true && !secrets)) continue
    properties[name] = shown
    if (isOptional === true) optional.push(name)
  }
  return objectOf(properties, { title, optional })
}

/** Formats an item for a response. */
export function viewOf<Item extends object>(
  fields: ResourceFields<Item>,
  item: Item,
  { caller, now }: { readonly caller: Caller; readonly now: number },
): object {
  const shown = Object.entries(fields).flatMap(([name, { shown, view, isOptional, isSecret }]) => {
    if (shown === undefined) return []
    const value = formatValue(shown, view ? view(item, caller, now) : readValue(item, name))
    const isLeftOut = value === undefined && (isOptional === true || isSecret === true)
    return isLeftOut ? [] : [[name, value ?? null]]
  })
  return Object.fromEntries(shown) as object
}

/** The values of the named fields for the audit. */
export function detailsOf<Item extends object>(
  fields: ResourceFields<Item>,
  item: Item,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const details = names.flatMap((name) => {
    const { shown, audited } = fields[name] ?? {}
    const value = formatValue(shown, audited ? audited(item) : readValue(item, name))
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(details) as Readonly<Record<string, unknown>>
}

function readValue(item: object, name: string): unknown {
  return (item as Readonly<Record<string, unknown>>)[name]
}

function formatValue(shown: JsonSchema | undefined, value: unknown): unknown {
  return shown?.['format'] === 'date-time' && typeof value === 'number' ? isoTime(value) : value
}

/** The content with these fields changed; `null` removes a field. */
export function changeContent<Content extends object>(before: Content, change: object): Content {
  const changed = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return Object.fromEntries(changed) as Content
}
