import { createHash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readCursor, writeCursor } from '../../../admin-api/http/cursor.ts'
import { ApiError } from '../../../runtime/errors.ts'
import { anyText } from '../../any-text.ts'

const list = { name: 'positions', accountId: 'acc-1', filter: { deviceId: 'tug', order: 'asc' } }

test('a cursor with any values leads back to its row', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), anyText(), (time, id) => {
      const cursor = writeCursor(list, [time, id])
      expect(cursor).toMatch(/^[\w.-]+$/)
      expect(readCursor(cursor, list, ['number', 'text'])).toEqual([time === 0 ? 0 : time, id])
    }),
  )
})

test('a cursor that is damaged in any one character is rejected', () => {
  const cursor = writeCursor(list, [1_767_225_600_000, '01KDVN9C000000000000000001'])
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...'abcXYZ019-_.=+/ é'), (at, other) => {
      fc.pre(cursor[at] !== other)
      const damaged = cursor.slice(0, at) + other + cursor.slice(at + 1)
      expect(() => readCursor(damaged, list, ['number', 'text'])).toThrow(ApiError)
    }),
    { numRuns: 500 },
  )
})

test('a truncated cursor, or one with trailing text, is rejected', () => {
  const cursor = writeCursor(list, ['a'])
  for (let length = 0; length < cursor.length; length += 1) {
    expect(() => readCursor(cursor.slice(0, length), list, ['text'])).toThrow(ApiError)
  }
  for (const more of ['=', '.', '.x', ' ', cursor]) {
    expect(() => readCursor(cursor + more, list, ['text'])).toThrow(ApiError)
  }
})

test('any other text is rejected as a cursor', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => readCursor(text, list, ['text'])).toThrow(ApiError)
    }),
  )
})

test.each([
  { ...list, accountId: 'acc-2' },
  { ...list, name: 'devices' },
  { ...list, filter: { ...list.filter, order: 'desc' } },
  { ...list, filter: { ...list.filter, from: 0 } },
  { name: list.name, accountId: list.accountId },
])('a cursor of one list is rejected by another: %j', (other) => {
  expect(() => readCursor(writeCursor(list, ['a']), other, ['text'])).toThrow(ApiError)
})

test('a forged cursor can contain only values of the expected shapes', () => {
  const forged = (text: string) => {
    const scoped = JSON.stringify([list.accountId, list.name, list.filter, text])
    const sum = createHash('sha256').update(scoped).digest('base64url').slice(0, 22)
    return `${Buffer.from(text).toString('base64url')}.${sum}`
  }
  expect(readCursor(forged('["a"]'), list, ['text'])).toEqual(['a'])
  for (const place of [
    '[{"$gt":""}]',
    '[null]',
    '[["a"]]',
    '{"0":"a","length":1}',
    '5',
    'null',
    '{',
  ]) {
    expect(() => readCursor(forged(place), list, ['text'])).toThrow(ApiError)
    expect(() => readCursor(forged(place), list, ['number'])).toThrow(ApiError)
  }
  expect(() => readCursor(forged('[1.5]'), list, ['number'])).toThrow(ApiError)
  expect(readCursor(forged('[2]'), list, ['number or none'])).toEqual([2])
  expect(() => readCursor(forged('[1.5]'), list, ['number or none'])).toThrow(ApiError)
  expect(readCursor(forged('[null]'), list, ['number or none'])).toEqual([null])
  expect(() => readCursor(forged('[["a"]]'), list, ['number or none'])).toThrow(ApiError)
  expect(() => readCursor(forged('["a"]'), list, ['number or none'])).toThrow(ApiError)
  expect(() => readCursor(forged('["a","b"]'), list, ['text'])).toThrow(ApiError)
})

test('without a cursor the list starts with the first page', () => {
  expect(readCursor(undefined, list, ['text'])).toBeUndefined()
})
