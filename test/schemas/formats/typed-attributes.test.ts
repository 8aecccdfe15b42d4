import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { typeAttributes, typeText } from '../../../schemas/formats/typed-attributes.ts'
import { judgeAttributes } from '../../../schemas/report/attributes.ts'

describe('a text under an app-specific name', () => {
  test.each<[string, number]>([
    ['-10.0', -10],
    ['-18.5', -18.5],
    ['12.0', 12],
    ['21.50', 21.5],
    ['0', 0],
    ['-0.0', 0],
    ['.5', 0.5],
    ['0.000001', 0.000001],
    ['1e-7', 1e-7],
    ['123456789012345', 123456789012345],
    ['0.00123456789012345', 0.00123456789012345],
  ])('%s becomes the number that it denotes', (text, number) => {
    expect(typeText('temp1', text)).toBe(number)
  })

  test.each([
    ...[
      '00123',
      '-007',
      '0400',
      '00.5',
      '+491701234567',
      ' 7',
      '7 ',
      '12e4',
      '0x10',
      '5.',
      '-',
      '',
    ],
    ...['12345678901234567890', '1234567890123456', '0.1234567890123456', '1e999', 'Infinity'],
    ...['NaN', '1,5', '12:30', 'TRUE', 'on'],
  ])('“%s” stays a text', (text) => {
    expect(typeText('temp1', text)).toBe(text)
  })

  test('is a boolean if it is true or false', () => {
    expect([typeText('door', 'true'), typeText('door', 'false')]).toEqual([true, false])
  })
})

describe('a known attribute', () => {
  test('gets its type, in whatever type it was sent', () => {
    const sent = { charging: 'off', fuel: '12.0', ignition: 1, motion: 'TRUE', rpm: ' 0800 ' }
    const typed = { charging: false, fuel: 12, ignition: true, motion: true, rpm: 800 }
    expect(typeAttributes(sent)).toEqual(typed)
  })

  test('that cannot be converted to its type stays as sent', () => {
    const sent = { fuel: '12 l', hdop: true, ignition: 2, motion: 'perhaps', steps: '1e999' }
    expect(typeAttributes(sent)).toBe(sent)
  })

  test('that is a text stays as sent, as do all unknown names', () => {
    const sent = {
      alarm: '7',
      door: 'true',
      event: 32,
      status: '0400',
      toString: '1',
      trigger: '0',
    }
    expect(typeAttributes(sent)).toBe(sent)
    expect(typeText('alarm', '7')).toBe('7')
  })

  test("never makes attributes exceed an event's limit", () => {
    const full = { rest: 'x'.repeat(256), steps: '1e20' }
    const sent = Object.fromEntries(
      [...'abcdefg'].map((name) => [name, 'x'.repeat(244)] as const).concat(Object.entries(full)),
    )
    expect(judgeAttributes(sent)).toEqual({ attributes: sent })
    expect(typeAttributes(sent)).toBe(sent)
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('fuel', 'rpm', 'ignition', 'x'), fc.string()),
        (any) => {
          const judged = judgeAttributes(any)
          if (!('attributes' in judged) || judged.attributes === undefined) return
          const typed = typeAttributes(judged.attributes)
          expect(judgeAttributes(typed)).toEqual({ attributes: typed })
          expect(typeAttributes(typed)).toEqual(typed)
        },
      ),
    )
  })
})
