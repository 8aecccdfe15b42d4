import { isDeepStrictEqual } from 'node:util'
import type Joi from 'joi'

/** JSON Schema, draft 2020-12; one with a `title` becomes a component of the OpenAPI document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** An object with these properties and no others. All are required but the `optional` ones. */
export function objectOf(
  properties: { readonly [name: string]: JsonSchema },
  { optional = [], ...others }: JsonSchema & { readonly optional?: readonly string[] } = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return {
    type: 'object',
    ...others,
    ...(required.length > 0 && { required }),
    properties,
    additionalProperties: false,
  }
}

/**
 * The JSON Schema of a Joi rule, from Joi's own conversion. A rule that Joi cannot convert gives its
 * schema in `.meta({ openapi: {…} })`, which replaces Joi's. Allows `null` if the rule treats it as
 * absent; includes descriptions and defaults.
 */
export function jsonSchemaOf(rule: Joi.Schema): JsonSchema {
  const own = stated(rule) ?? withParts(converted(rule), rule)
  const description = rule.$_getFlag('description') as string | undefined
  const fallback = rule.$_getFlag('default') as unknown
  const schema = {
    ...own,
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  }
  return accepts(rule, null) ? withNull(schema) : schema
}

/** The schema of an object with these fields; by default it refuses others. */
export function objectSchemaOf(
  rules: { readonly [field: string]: Joi.Schema },
  { others = 'refused' }: { others?: 'refused' | 'ignored' } = {},
): JsonSchema {
  const fields = Object.entries(rules)
  const required = fields.filter(([, rule]) => isRequired(rule)).map(([field]) => field)
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([field, rule]) => [field, jsonSchemaOf(rule)])),
    ...(others === 'refused' && { additionalProperties: false }),
  }
}

export function isRequired(rule: Joi.Schema): boolean {
  return rule.$_getFlag('presence') === 'required'
}

/**
 * Replaces every schema that has a `title` by a reference, and collects the schemas under their
 * titles.
 */
export class SchemaComponents {
  readonly #schemas = new Map<string, JsonSchema>()

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** @throws {Error} if two different schemas share a title: a mistake in the route table. */
  extract(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((item) => this.extract(item))
    if (typeof part !== 'object' || part === null) return part
    const { title, ...rest } = part as JsonSchema
    const extracted = Object.fromEntries(
      Object.entries(rest).map(([keyword, value]) => [keyword, this.extract(value)]),
    )
    if (title === undefined) return extracted
    // The keyword `title` is a string; a field called `title` is described by an object.
    if (typeof title !== 'string') return { title: this.extract(title), ...extracted }
    const known = this.#schemas.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, extracted)) {
      throw new Error(`two different schemas have the title ${title}`)
    }
    this.#schemas.set(title, extracted)
    return { $ref: `#/components/schemas/${title}` }
  }
}

function stated(rule: Joi.Schema): JsonSchema | undefined {
  const metas = (rule.$_terms['metas'] ?? []) as readonly { readonly openapi?: JsonSchema }[]
  return metas.findLast(({ openapi }) => openapi !== undefined)?.openapi
}

function converted(rule: Joi.Schema): JsonSchema {
  return rule['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
}

/** Joi's own conversion ignores `.meta` inside objects and lists. */
function withParts(schema: JsonSchema, rule: Joi.Schema): JsonSchema {
  const fields = rule.$_terms['keys'] as readonly { key: string; schema: Joi.Schema }[] | undefined
  if (rule.type === 'object' && fields) {
    return objectSchemaOf(Object.fromEntries(fields.map(({ key, schema }) => [key, schema])))
  }
  const [items, ...others] = (rule.$_terms['items'] ?? []) as readonly Joi.Schema[]
  const isList = rule.type === 'array' && items !== undefined && others.length === 0
  return isList ? { ...schema, items: jsonSchemaOf(items) } : schema
}

function accepts(rule: Joi.Schema, value: unknown): boolean {
  return rule.validate(value, { convert: false, context: { now: 0 } }).error === undefined
}

function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema
  if (type === undefined) return schema['anyOf'] ? schema : { anyOf: [schema, { type: 'null' }] }
  const types = [type].flat()
  if (types.includes('null')) return schema
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(choices) && { enum: [...(choices as unknown[]), null] }),
  }
}
