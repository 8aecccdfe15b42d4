import { isDeepStrictEqual } from 'node:util'
import Joi from 'joi'

/** JSON Schema, draft 2020-12; one with a `title` becomes a component of the OpenAPI document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** An object with these properties and no others. All are required except the `optional` ones. */
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
 * schema in `.meta({ openapi: {…} })`, which replaces Joi's, also inside lists and objects. Allows `null` if the rule
 * treats it as absent; includes descriptions and defaults.
 */
export function jsonSchemaOf(rule: Joi.Schema): JsonSchema {
  const converted = rule['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  return withStated(converted, descriptionOf(rule))
}

/** The schema of an object with these fields; by default it rejects others. */
export function objectSchemaOf(
  rules: { readonly [field: string]: Joi.Schema },
  { others = 'refused' }: { others?: 'refused' | 'ignored' } = {},
): JsonSchema {
  const { additionalProperties, ...schema } = jsonSchemaOf(Joi.object(rules))
  return others === 'refused' ? { ...schema, additionalProperties } : schema
}

export function isRequired(rule: Joi.Schema): boolean {
  return descriptionOf(rule).flags?.presence === 'required'
}

/** Replaces every schema that has a `title` with a reference, and collects the schemas by title. */
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

type Description = {
  readonly flags?: {
    readonly presence?: string
    readonly description?: string
    readonly default?: unknown
    readonly empty?: Description
  }
  readonly allow?: readonly unknown[]
  readonly metas?: readonly { readonly openapi?: JsonSchema }[]
  readonly keys?: Readonly<Record<string, Description>>
  readonly items?: readonly Description[]
}

function descriptionOf(rule: Joi.Schema): Description {
  return rule.describe()
}

/** Schema keywords stated by a rule and its parts, which Joi's own conversion ignores. */
function withStated(converted: JsonSchema, described: Description): JsonSchema {
  const { metas = [], flags = {}, allow = [] } = described
  const stated = metas.findLast(({ openapi }) => openapi !== undefined)?.openapi
  const schema = {
    ...(stated ?? withParts(converted, described)),
    ...(flags.description !== undefined && { description: flags.description }),
    ...(flags.default !== undefined && { default: flags.default }),
  }
  const nullIsAbsence = flags.presence !== 'required' && flags.empty?.allow?.includes(null)
  return allow.includes(null) || nullIsAbsence === true ? withNull(schema) : schema
}

function withParts(converted: JsonSchema, { keys, items = [] }: Description): JsonSchema {
  const { properties = {}, items: item } = converted as {
    readonly properties?: Readonly<Record<string, JsonSchema>>
    readonly items?: JsonSchema
  }
  if (keys !== undefined) {
    const inner = Object.entries(keys).map(([name, part]) => [
      name,
      withStated(properties[name] ?? {}, part),
    ])
    return { ...converted, properties: Object.fromEntries(inner) }
  }
  const [one, ...others] = items
  const isOfOneKind = item !== undefined && one !== undefined && others.length === 0
  return isOfOneKind ? { ...converted, items: withStated(item, one) } : converted
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
