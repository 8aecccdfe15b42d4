import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import {
  keepFittingAttributes,
  judgeAttributes,
  plainAttributes,
} from '../../../schemas/report/attributes.ts'

function faultyFields(sent: unknown): string[] {
  const judged = judgeAttributes(sent)
  return 'faults' in judged ? judged.faults.map(({ field }) => field) : []
}

const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, n]))

/** Attributes of exactly `bytes` bytes as JSON. */
function ofBytes(bytes: number): Record<string, string> {
  const whole = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`n${n}`, 'x'.repeat(256)]))
  const rest = bytes - JSON.stringify({ ...whole, rest: '' }).length
  return { ...whole, rest: 'x'.repeat(rest) }
}

describe('attributes of reports', () => {
  test('attributes are sorted by name, without absent ones', () => {
    const sent = { odometer: 12.5, Zone: 'B', ignition: true, none: null, alarm: 'sos' }
    const { attributes } = judgeAttributes(sent) as { attributes: object }
    expect(JSON.stringify(attributes)).toBe(
      '{"Zone":"B","alarm":"sos","ignition":true,"odometer":12.5}',
    )
  })

  test.each([[null], [undefined], [{}], [{ fuel: null }]])(
    'attributes are absent if %j is sent',
    (sent) => {
      expect(judgeAttributes(sent)).toEqual({})
    },
  )

  test('attributes may be called constructor, toString or hasOwnProperty', () => {
    const sent = { constructor: 1, hasOwnProperty: true, toString: 'x' }
    expect(judgeAttributes(sent)).toEqual({ attributes: sent })
    expect(keepFittingAttributes(sent)).toEqual({ attributes: sent, dropped: 0 })
  })

  test('a negative zero in attributes becomes zero', () => {
    expect(judgeAttributes({ temperature: -0 })).toStrictEqual({ attributes: { temperature: 0 } })
  })

  test.each([
    ['a text', 'x', ['attributes']],
    ['2049 bytes', ofBytes(2049), ['attributes']],
    ['__proto__', JSON.parse('{"__proto__":{"deviceId":"a"}}'), ['attributes.__proto__']],
    ['an empty name', { '': 1 }, ['attributes[""]']],
    ['a name of 65 characters', { ['a'.repeat(65)]: 1 }, [`attributes.${'a'.repeat(64)}`]],
    ['a name with a blank', { 'a b': 1 }, ['attributes.a b']],
    [
      'a number beyond double',
      JSON.parse('{"a":1e400,"b":-1e400}'),
      ['attributes.a', 'attributes.b'],
    ],
    ['a list as a value', { a: [] }, ['attributes.a']],
    ['a control character', { a: 'x\u0000', b: '\u0085' }, ['attributes.a', 'attributes.b']],
    ['a text with an API key in it', { a: `key=${newApiKey()}` }, ['attributes.a']],
  ])('attributes with %s are rejected by name', (_what, sent, fields) => {
    expect(faultyFields(sent)).toEqual(fields)
    const judged = judgeAttributes(sent) as { faults: { message: string }[] }
    for (const { message } of judged.faults) expect(message).toMatch(/^attributes[^ ]* .*must /)
  })

  test('attributes with an API key as a name are rejected, and the error does not repeat the key', () => {
    const key = newApiKey()
    expect(JSON.stringify(judgeAttributes({ [key]: 1 }))).not.toContain(key)
    expect(faultyFields({ [key]: 1 })).toEqual(['attributes.gps_…'])
  })

  test.each([
    ['32 names', names(32)],
    ['2048 bytes', ofBytes(2048)],
    ['a text of 256 characters, some beyond ASCII', { a: `${'x'.repeat(254)}🚚` }],
    ['an empty text', { a: '' }],
    ['the greatest double', { a: Number.MAX_VALUE, b: 5e-324 }],
    ['what only looks like an API key', { a: `gps_${'a'.repeat(38)}` }],
    ['a name of 64 characters', { [`a${'.'.repeat(63)}`]: 1 }],
  ])('attributes may have %s', (_what, sent) => {
    expect(judgeAttributes(sent)).toEqual({ attributes: sent })
  })

  test('the fast path and the rules agree on attributes', () => {
    let plain = 0
    fc.assert(
      fc.property(anyAttributes(), (sent) => {
        const fast = plainAttributes(sent)
        if (fast === undefined) return
        plain += 1
        // One name that needs the rules sends all attributes to them.
        const name = 'not-by-the-fast-path'
        const judged = judgeAttributes({ ...sent, [name]: 'é' })
        if ('faults' in judged) expect(Object.keys(sent)).toHaveLength(32)
        else {
          const others = Object.entries(judged.attributes ?? {}).filter(([one]) => one !== name)
          expect(others).toEqual(Object.entries(fast))
        }
      }),
      { numRuns: 2_000 },
    )
    expect(plain).toBeGreaterThan(200)
  })
})

describe('attributes that apps send', () => {
  test('an app’s attributes that do not fit are dropped and counted', () => {
    const sent = { sat: 9, deep: {}, '1st': 1, none: null, key: newApiKey(), long: 'x'.repeat(257) }
    expect(keepFittingAttributes(sent)).toEqual({ attributes: { sat: 9 }, dropped: 4 })
    expect(keepFittingAttributes({ deep: {} })).toEqual({ dropped: 1 })
    expect(keepFittingAttributes({})).toEqual({ dropped: 0 })
  })

  test('an app’s attributes are kept up to the 32nd name', () => {
    const { attributes = {}, dropped } = keepFittingAttributes(names(40))
    expect([Object.keys(attributes).length, dropped]).toEqual([32, 8])
    expect(attributes).toEqual(names(32))
  })

  test('an app’s attributes are kept up to 2 KiB; a small value still fits after a large one that does not', () => {
    expect(keepFittingAttributes(ofBytes(2048))).toEqual({ attributes: ofBytes(2048), dropped: 0 })
    const { rest = '', ...whole } = ofBytes(2049)
    const sent = { ...whole, rest, small: 1 }
    expect(keepFittingAttributes(sent)).toEqual({ attributes: { ...whole, small: 1 }, dropped: 1 })
  })

  test('an app’s fitted attributes are always accepted afterwards', () => {
    fc.assert(
      fc.property(anyAttributes(), (sent) => {
        const { attributes, dropped } = keepFittingAttributes(sent)
        const present = Object.values(sent).filter((value) => value !== null)
        expect(Object.keys(attributes ?? {}).length + dropped).toBe(present.length)
        expect(judgeAttributes(attributes)).toEqual(attributes === undefined ? {} : { attributes })
      }),
    )
  })
})

function anyAttributes() {
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'Z', '7', '.', '-', '_'), maxLength: 70 }),
    fc.string({ maxLength: 5 }),
  )
  const value = fc.oneof(
    fc.double(),
    fc.boolean(),
    fc.string({ maxLength: 300 }),
    fc.constantFrom(null, [], {}, -0, newApiKey(), '\ud800'),
  )
  return fc.oneof(
    fc.dictionary(name, value, { noNullPrototype: true, maxKeys: 40 }),
    fc.dictionary(fc.constantFrom('b', 'a', 'c'), fc.oneof(fc.double(), fc.string()), {
      noNullPrototype: true,
    }),
  )
}
