import { expect, test } from '@jest/globals'
import Joi from 'joi'
import {
  jsonSchemaOf,
  objectOf,
  objectSchemaOf,
  SchemaComponents,
} from '../../../runtime/openapi/json-schema.ts'

const even = Joi.string().meta({ openapi: { type: 'integer', multipleOf: 2 } })

test('a Joi rule as JSON Schema is what Joi makes of it', () => {
  expect(jsonSchemaOf(Joi.number().integer().min(1).max(9))).toEqual({
    type: 'integer',
    minimum: 1,
    maximum: 9,
  })
})

test('a Joi rule as JSON Schema uses the schema that the rule states, at any depth', () => {
  expect(jsonSchemaOf(even)).toEqual({ type: 'integer', multipleOf: 2 })
  expect(jsonSchemaOf(Joi.array().items(even).max(3))).toEqual({
    type: 'array',
    items: { type: 'integer', multipleOf: 2 },
    maxItems: 3,
  })
  expect(jsonSchemaOf(Joi.object({ even: even.required() }))).toEqual({
    type: 'object',
    required: ['even'],
    properties: { even: { type: 'integer', multipleOf: 2 } },
    additionalProperties: false,
  })
})

test('a Joi rule as JSON Schema has its description and default even if the rule states its schema', () => {
  expect(jsonSchemaOf(even.default(4).description('Even'))).toEqual({
    type: 'integer',
    multipleOf: 2,
    default: 4,
    description: 'Even',
  })
})

test.each([
  ['is allowed', Joi.number().allow(null), { type: ['number', 'null'] }],
  ['is taken for absence', Joi.number().empty(null), { type: ['number', 'null'] }],
  ['is missing', Joi.number().empty(null).required(), { type: 'number' }],
  ['is rejected', Joi.number(), { type: 'number' }],
  [
    'is allowed besides choices',
    Joi.string().valid('a', 'b').empty(null),
    { type: ['string', 'null'], enum: ['a', 'b', null] },
  ],
  [
    'is allowed besides what a rule states without a type',
    Joi.string()
      .meta({ openapi: { const: 'a' } })
      .empty(null),
    { anyOf: [{ const: 'a' }, { type: 'null' }] },
  ],
])('a Joi rule as JSON Schema null %s', (_, rule, schema) => {
  expect(jsonSchemaOf(rule)).toMatchObject(schema)
})

test('a Joi rule as JSON Schema of an object that ignores other fields does not forbid them', () => {
  const rules = { even }
  expect(objectSchemaOf(rules)).toMatchObject({ additionalProperties: false })
  const open = objectSchemaOf(rules, { others: 'ignored' })
  expect(open).not.toHaveProperty('additionalProperties')
  expect(open).not.toHaveProperty('required')
})

const point = { title: 'Point', type: 'object', properties: { x: { type: 'number' } } }
const line = { title: 'Line', type: 'array', items: point }

test('schemas with a title become components, even nested ones', () => {
  const components = new SchemaComponents()
  expect(components.extract({ content: { schema: line } })).toEqual({
    content: { schema: { $ref: '#/components/schemas/Line' } },
  })
  expect(components.schemas).toEqual({
    Line: { type: 'array', items: { $ref: '#/components/schemas/Point' } },
    Point: { type: 'object', properties: { x: { type: 'number' } } },
  })
})

test('a schema used twice is one component; another with the same name is an error', () => {
  const components = new SchemaComponents()
  components.extract([point, { ...point }])
  expect(Object.keys(components.schemas)).toEqual(['Point'])
  expect(() => components.extract({ title: 'Point', type: 'string' })).toThrow('Point')
})

test('a field called title is an ordinary field', () => {
  const components = new SchemaComponents()
  const book = { type: 'object', properties: { title: { type: 'string' } } }
  expect(components.extract(book)).toEqual(book)
  expect(components.schemas).toEqual({})
})

test('an object of stated properties requires all but the optional ones and allows no others', () => {
  const [id, note] = [{ type: 'string' }, { type: 'number' }]
  expect(objectOf({ id, note }, { title: 'Thing', optional: ['note'] })).toEqual({
    title: 'Thing',
    type: 'object',
    required: ['id'],
    properties: { id, note },
    additionalProperties: false,
  })
  expect(objectOf({ note }, { type: ['object', 'null'], optional: ['note'] })).toEqual({
    type: ['object', 'null'],
    properties: { note },
    additionalProperties: false,
  })
})
