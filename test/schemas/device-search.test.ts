import { describe, expect, test } from '@jest/globals'
import { deviceSearchKey, isFound, searchWords, wholeWords } from '../../schemas/device-search.ts'

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
    [' - ', 'anything'],
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
  ])('%s does not find %s', (text, deviceId) => {
    expect(finds(text, deviceId)).toBe(false)
  })

  test('the words may be in the name and in the id, but none is in both together', () => {
    expect(finds('van 4711', 'dev-4711', 'Van Seven')).toBe(true)
    expect(finds('sevendev', 'dev-4711', 'Van Seven')).toBe(false)
  })

  test('a whole word counts, a part of one does not', () => {
    expect([whole('van 7', 'van-07'), whole('van 7', 'van-17'), whole('an', 'van-7')]).toEqual([
      2, 1, 0,
    ])
    expect(whole('van7', 'van-07')).toBe(1)
  })
})
