import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  deviceSearchKey,
  isFound,
  quickLook,
  searchWords,
  wholeWords,
} from '../../../schemas/devices/device-search.ts'

function finds(text: string, deviceId: string, name: string | null = null): boolean {
  return isFound(deviceSearchKey(name, deviceId), searchWords(text))
}

function whole(text: string, deviceId: string): number {
  return wholeWords(deviceSearchKey(null, deviceId), searchWords(text))
}

describe('finding devices by words', () => {
  test.each([
    ['van 7', 'van-07'],
    ['VAN7', 'van_007'],
    ['van-07', 'Van 7'],
    ['7 van', 'van-07'],
    ['owntracks ana', 'owntracks/ana/phone'],
    ['3f2a', '9c3f-2a00'],
    ['😀', '😀😀'],
    ['', 'anything'],
    [' - ', 'any-thing'],
    ['(', 'van (old)'],
    ['van (', 'van 7'],
    [') (', 'van (old)'],
    ['istanbul', 'İstanbul'],
    ['İSTANBUL', 'istanbul-1'],
    ['ISTANBUL', 'ıstanbul'],
    ['strasse', 'Große Straße 5'],
    ['STRAẞE', 'strasse'],
    ['ß', 'buss'],
    ['οδοσ', 'ΟΔΟΣ'],
    ['οδός', 'ΟΔΌΣ 7'],
    ['fish', 'ﬁsh'],
    ['K', 'K'],
    ['an', 'van-07'],
    ['0', 'van-00'],
    ['van-0', 'van-07'],
    ['van-10', 'van-10'],
  ])('%s finds %s', (text, deviceId) => {
    expect(finds(text, deviceId)).toBe(true)
  })

  test.each([
    ['van 8', 'van-07'],
    ['van-10', 'van-1'],
    ['van 7', 'truck-07'],
    ['f32a', '9c3f-2a00'],
    ['-', 'anything'],
    ['(', 'van-7'],
    ['()', 'van (old'],
    ['%', 'van-7'],
    ['sud', 'Süd'],
    ['ß', 'Süd'],
  ])('%s does not find %s', (text, deviceId) => {
    expect(finds(text, deviceId)).toBe(false)
  })

  test('words may match in the name or the id, but not across both', () => {
    expect(finds('van 4711', 'dev-4711', 'Van Seven')).toBe(true)
    expect(finds('sevendev', 'dev-4711', 'Van Seven')).toBe(false)
  })

  test('whole words count, parts do not', () => {
    expect([whole('van 7', 'van-07'), whole('van 7', 'van-17'), whole('an', 'van-7')]).toEqual([
      2, 1, 0,
    ])
    expect(whole('van7', 'van-07')).toBe(1)
  })
})

describe('a quick look at a device', () => {
  const someText = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'aiksvAIKſKİıéÉe\u0301ßẞΣσςﬁ -_/(0127'), maxLength: 12 }),
  )

  test('excludes no matching device and misses no whole word', () => {
    fc.assert(
      fc.property(someText, someText, someText, fc.nat(12), (name, deviceId, other, begin) => {
        for (const text of [other, name.slice(begin), `${deviceId.slice(begin)} ${name}`]) {
          const [key, words] = [deviceSearchKey(name, deviceId), searchWords(text)]
          if (!isFound(key, words)) continue
          const most = quickLook(words)(`${name}\n${deviceId}`) ?? -1
          expect(most).toBeGreaterThanOrEqual(wholeWords(key, words))
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['van 7', 'van-07', 2],
    ['van 7', 'van-17', 2],
    ['van 7', 'van-70', 1],
    ['v', 'van-7', 0],
    ['van 7', 'ban-7', undefined],
    ['7v', 'van-7', undefined],
    ['ß', 'Süd', undefined],
    ['ß', 'Straße', 0],
    ['strasse', 'Straße', 1],
    ['😀', 'van-7', undefined],
    ['(', 'van-7', undefined],
    ['(', 'van (7', 1],
  ])('for %s at %s counts %s possible whole words', (text, deviceId, most) => {
    expect(quickLook(searchWords(text))(deviceId)).toBe(most)
  })
})
