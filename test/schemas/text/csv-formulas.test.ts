import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { guardFormulas, unguardFormulas } from '../../../schemas/text/csv-formulas.ts'

const STARTS = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']

test.each(STARTS)('a guarded cell that starts with %j is not a formula', (start) => {
  expect(guardFormulas(`${start}1`)).toBe(`'${start}1`)
  expect(guardFormulas(`'${start}1`)).toBe(`''${start}1`)
  expect(guardFormulas(`a;${start}1`)).toBe(`a;'${start}1`)
  expect(guardFormulas(`a${start}1`)).toBe(`a${start}1`)
})

test('a guarded text is read back unchanged and has no formula in any cell', () => {
  const character = fc.constantFrom(...STARTS, ';', "'", 'a', '1')
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const guarded = guardFormulas(text)
      expect(unguardFormulas(guarded)).toBe(text)
      for (const cell of guarded.split(';')) expect(STARTS).not.toContain(cell[0])
    }),
  )
})
