import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readMark, writeMark } from '../../../event-log/reading/mark.ts'

const whole = fc.maxSafeNat()
const last = fc.option(fc.record({ partition: whole, offset: whole, time: whole }), {
  nil: undefined,
})
const place = fc.dictionary(fc.nat(99_999).map(String), fc.maxSafeNat(), { maxKeys: 40 })

describe('a mark', () => {
  test('restores its offsets', () => {
    fc.assert(
      fc.property(place, last, (offsets, last) => {
        const mark = writeMark({ offsets, last })
        expect(mark).toMatch(/^[\w-]+$/)
        expect(readMark(mark)).toEqual({ offsets: { ...offsets }, ...(last && { last }) })
      }),
    )
  })

  test('a mark that is damaged in any one character is rejected', () => {
    const offsets = { 0: 17, 3: 0, 11: 9_007_199_254_740_991 }
    const mark = writeMark({ offsets, last: { partition: 3, offset: 0, time: 4_000_000 } })
    fc.assert(
      fc.property(fc.nat(mark.length - 1), fc.constantFrom(...'abcXYZ019-_.=+/ é'), (at, other) => {
        fc.pre(mark[at] !== other)
        expect(readMark(mark.slice(0, at) + other + mark.slice(at + 1))).toBeUndefined()
      }),
    )
  })

  test.each([
    ['an offset below 0', { 0: -1 }],
    ['an offset that is not a whole number', { 0: 1.5 }],
    ['an offset too large to count', { 0: 2 ** 53 }],
    ['an offset that is a text', { 0: '1' }],
    ['an offset that is an object', { 0: { $gt: 0 } }],
    ['a partition that is not a number', { $gt: 1 }],
    ['a partition written in another way', { '00': 1 }],
    ['a partition too large', { 100_000: 1 }],
    ['more partitions than there can be', { ...Array.from({ length: 1_001 }, () => 1) }],
  ])('a mark with %s is rejected despite a valid checksum', (_, offsets) => {
    const written = { offsets: offsets as Record<number, number> }
    expect(readMark(writeMark(written))).toBeUndefined()
  })

  test.each([
    [{ partition: -1, offset: 0, time: 0 }],
    [{ partition: 0, offset: 0.5, time: 0 }],
    [{ partition: 0, offset: 0, time: NaN }],
  ])('a mark whose last entry is %j is rejected despite a valid checksum', (last) => {
    expect(readMark(writeMark({ offsets: { 0: 1 }, last }))).toBeUndefined()
  })

  test('a mark of an earlier version restores its offsets', () => {
    const written = '{"v":1,"check":"1ejelkx","offsets":{"0":17,"3":4}}'
    const mark = Buffer.from(written).toString('base64url')
    expect(readMark(mark)).toEqual({ offsets: { 0: 17, 3: 4 } })
  })

  test('any other text is rejected as a mark', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (text) => {
        expect(readMark(text)).toBeUndefined()
        expect(readMark(Buffer.from(text).toString('base64url'))).toBeUndefined()
      }),
    )
    expect(readMark('A'.repeat(1_000_000))).toBeUndefined()
  })
})
