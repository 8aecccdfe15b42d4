import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { PREFIX } from '../../../admin-api/app.ts'
import { EXPECTED, newEmail, type Expected } from '../access-table.ts'
import { adminForAllTests, type AdminHarness } from '../admin-harness.ts'
import { document } from '../answers-conform.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minProperties?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
}
type Operation = {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
type Body = Readonly<Record<string, unknown>>

const ajv = new Ajv2020({ strict: false, validateFormats: false })
/** Resolves references to the document's schemas. */
const whole = new WeakMap<Schema, object>()
const allows = (schema: Schema, value: unknown) => {
  const known = whole.get(schema) ?? { ...schema, components: document.components }
  whole.set(schema, known)
  return ajv.validate(known, value)
}
const calls = Object.entries(EXPECTED).filter(([, { needs }]) => needs !== 'share')

/** Values of every type, and those just outside the bounds of a schema, as far as it excludes them. */
function outside(schema: Schema): unknown[] {
  const { minimum = 0, maximum = 0, minLength = 1, maxLength = 0, maxItems = 0 } = schema
  const bounds = [
    ...[minimum - 1, maximum + 1, 'x'.repeat(minLength - 1), 'x'.repeat(maxLength + 1)],
  ]
  const many = Array.from({ length: maxItems + 1 }, (_, n) => `d-${n}`)
  const ofTypes = [
    true,
    5,
    1.5,
    1e-320,
    '',
    'text',
    '5',
    'true',
    // Faults in an object's fields are tested separately.
    ...(hasFields(schema) ? [] : [{ $ne: null }]),
  ]
  const lists = [[], [7], [''], [null], [{ $gt: '' }], ['a', 'a'], many]
  const excluded = [...bounds, ...ofTypes, ...lists].filter((value) => !allows(schema, value))
  const isTime = schema.format === 'date-time'
  return isTime ? [...excluded, 'yesterday', '2026-02-30T00:00:00Z'] : excluded
}

function hasFields({ properties, additionalProperties, $ref }: Schema): boolean {
  return properties !== undefined || typeof additionalProperties === 'object' || $ref !== undefined
}

/** The same for the text of a query parameter, encoded. */
function outsideQuery({
  type,
  format,
  enum: choices,
  maximum = 0,
  maxLength = 0,
}: Schema): string[] {
  const numbers = ['-1', '1e2', '1.5', `${maximum + 1}`, '9'.repeat(20)]
  return [
    ...['', '%ff'],
    ...(type === 'integer' ? numbers : []),
    ...(format === 'date-time' ? ['yesterday', '2026-02-30T00:00:00Z', '1767225600000'] : []),
    ...(choices ?? []).map((choice) => `${choice}x`),
    ...(maxLength > 0 ? ['x'.repeat(maxLength + 1)] : []),
  ]
}

const valueOf = <T>(given: T | (() => T)): T => (given instanceof Function ? given() : given)

/** A body with this value at a path; `undefined`: without that field. */
function changed(body: Body, [field = '', ...inner]: readonly string[], value: unknown): Body {
  if (inner.length === 0) return { ...body, [field]: value }
  return { ...body, [field]: changed(body[field] as Body, inner, value) }
}

function fieldsOf(
  schema: Schema,
  at: readonly string[] = [],
): { path: string[]; schema: Schema; isRequired: boolean }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const path = [...at, name]
    const isRequired = schema.required?.includes(name) ?? false
    return [{ path, schema: inner, isRequired }, ...fieldsOf(inner, path)]
  })
}

describe.each(calls)('%s', (call, expected: Expected) => {
  const [method = '', pattern = ''] = call.split(' ')
  const template = PREFIX + pattern.replaceAll(/:(\w+)/g, '{$1}')
  const operation = document.paths[template]?.[method.toLowerCase()] as unknown as Operation
  const schema = operation.requestBody?.content['application/json']?.schema

  async function faultsOf(query: string, body?: Body): Promise<unknown> {
    await expected.before?.(harness)
    const path = valueOf(expected.path ?? pattern)
    const answer = await harness.api(method, path + query, { headers, ...(body && { body }) })
    const { code, error, details = [] } = answer.body
    for (const { field, message } of details) expect(message).toContain(field.split('.')[0])
    return { code, error, fields: details.map(({ field }) => field) }
  }
  const names = (field: string) => ({ code: 400, error: 'INVALID_PARAMS', fields: [field] })

  const goodBody = () => {
    const body = expected.body && valueOf(expected.body)
    return call === 'POST /session' ? { ...body, email: newEmail() } : body
  }

  if (schema !== undefined) {
    test('rejects each field of its body with any other type or beyond its bounds, by name', async () => {
      for (const { path, schema: inner, isRequired } of fieldsOf(schema)) {
        const nothing = isRequired ? [undefined, null] : method === 'PATCH' ? [null] : []
        const refused = nothing.filter((value) => value === undefined || !allows(inner, value))
        for (const value of [...outside(inner), ...refused]) {
          const faults = await faultsOf('', changed(goodBody() ?? {}, path, value))
          expect({ value, faults }).toEqual({ value, faults: names(path.join('.')) })
        }
      }
    })

    test('rejects fields that its body does not have, by name, and an empty change', async () => {
      // Other programs add members of their own to GeoJSON files.
      const areIgnored = call === 'POST /geofences/import'
      expect(schema.additionalProperties).toBe(areIgnored ? undefined : false)
      for (const unknown of ['accountId', 'passwordHash', 'constructor', 'x[$gt]']) {
        const body = { ...goodBody(), [unknown]: 'acc-2' }
        const taken = { code: 200, error: undefined, fields: [] }
        expect(await faultsOf('', body)).toEqual(areIgnored ? taken : names(unknown))
      }
      const isChange = schema.minProperties === 1 && schema.required === undefined
      if (isChange) expect(await faultsOf('', {})).toEqual(names('body'))
    })
  }

  test('rejects each parameter that is unknown, repeated, of another type or beyond its bounds, and a range that ends before it starts, by name', async () => {
    const body = goodBody()
    const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
    for (const { name, schema: inner } of queries) {
      // A cursor is read once the rest of the query is right.
      const cursors = name === 'cursor' && expected.status !== 400 ? ['x', 'W10.x'] : []
      const bad = [...outsideQuery(inner), ...cursors].map((value) => `?${name}=${value}`)
      // A list may be repeated, but not with the same value.
      const second = inner.type === 'array' ? 'a' : 'b'
      for (const query of [...bad, `?${name}=a&${name}=${second}`]) {
        expect({ query, faults: await faultsOf(query, body) }).toEqual({
          query,
          faults: names(name),
        })
      }
    }
    for (const unknown of ['unknown', '__proto__', 'constructor', 'limit[$gt]']) {
      expect(await faultsOf(`?${unknown}=1`, body)).toEqual(names(unknown))
    }
    if (['from', 'to'].every((end) => queries.some(({ name }) => name === end))) {
      const backwards = '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'
      expect(await faultsOf(backwards, body)).toEqual(names('from'))
    }
  })
})
