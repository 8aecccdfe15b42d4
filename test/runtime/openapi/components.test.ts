import { expect, test } from '@jest/globals'
import { SchemaComponents } from '../../../runtime/openapi/components.ts'

const point = { title: 'Point', type: 'object', properties: { x: { type: 'number' } } }
const line = { title: 'Line', type: 'array', items: point }

test('schemas with a title become components, also those inside of others', () => {
  const components = new SchemaComponents()
  expect(components.extract({ content: { schema: line } })).toEqual({
    content: { schema: { $ref: '#/components/schemas/Line' } },
  })
  expect(components.schemas).toEqual({
    Line: { type: 'array', items: { $ref: '#/components/schemas/Point' } },
    Point: { type: 'object', properties: { x: { type: 'number' } } },
  })
})

test('a schema used twice is one component; another one of its name is an error', () => {
  const components = new SchemaComponents()
  components.extract([point, { ...point }])
  expect(Object.keys(components.schemas)).toEqual(['Point'])
  expect(() => components.extract({ title: 'Point', type: 'string' })).toThrow('Point')
})

test('a field that is called title is a field', () => {
  const components = new SchemaComponents()
  const book = { type: 'object', properties: { title: { type: 'string' } } }
  expect(components.extract(book)).toEqual(book)
  expect(components.schemas).toEqual({})
})
