import { describe, expect, test } from '@jest/globals'
import { growth } from '../../bench/statistics.ts'
import { CONSOLE_TITLE, type ConsoleFigure } from '../../bench/figures.ts'
import { parseOptions } from '../../bench/options.ts'
import { tables } from '../../bench/table.ts'

describe('the growth of the heap', () => {
  test('the heap’s growth is the difference between the first sample and the last', () => {
    expect(growth([10, 11, 12, 13, 14])).toBeCloseTo(4)
    expect(growth([10, 10.5, 11])).toBeCloseTo(1)
  })

  test('the heap has not grown if it only fluctuates, shrinks, or grows only at the start', () => {
    expect(growth([12, 11, 12, 11, 12, 11, 12, 11])).toBeLessThan(0.5)
    expect(growth([14, 13, 12, 11])).toBe(0)
    expect(growth([5, 12, 12, 12, 12])).toBeCloseTo(0)
  })
})

describe('the table', () => {
  const values: Record<ConsoleFigure, number> = {
    'first map': 900,
    'p95 frame, dragging': 17,
    'p95 frame, wheel': 33,
    'main thread busy, still': 15,
    'report to dot': 150,
    'a day at 1 Hz drawn': 900,
    'heap, growth while it is watched': growth([10, 10, 10]),
    'the same in a hidden tab': growth([10, 13, 16]),
  }
  const result = {
    at: '2026-01-01T00:00:00.000Z',
    machine: 'a machine',
    rounds: 1,
    title: CONSOLE_TITLE,
    rows: [
      ...Object.entries(values).map(([figure, value]) => ({ figure, value })),
      { figure: 'the same in a hidden tab', value: '10 13 16 MB' },
    ],
    faults: [],
  }

  test('the table says whether each figure is good enough', () => {
    const table = tables([result])
    expect(table).toMatch(/p95 frame, dragging +17 ms +32 ms +20 ms +as wanted/)
    expect(table).toMatch(/p95 frame, wheel +33 ms +32 ms +20 ms +MISSED/)
    expect(table).toMatch(/main thread busy, still +15 % +20 % +20 % +as wanted/)
  })

  test('the table shows heap growth for a visible tab and a hidden tab', () => {
    const table = tables([result])
    expect(table).toMatch(/heap, growth while it is watched +0 MB +2 MB +2 MB +as wanted/)
    expect(table).toMatch(/the same in a hidden tab +6 MB +2 MB +2 MB +MISSED/)
    expect(table).toMatch(/^the same in a hidden tab +10 13 16 MB$/m)
  })

  test('the table says why figures are void', () => {
    const table = tables([{ ...result, faults: ['a page threw: x'] }])
    expect(table).toContain('VOID: a page threw: x')
    expect(table).not.toContain('as wanted')
  })
})

describe('the command line', () => {
  test('the command line has defaults', () =>
    expect(parseOptions(['console'])).toMatchObject({ rounds: 3, minutes: 1 }))

  test.each([
    ['--rounds', '0'],
    ['--rounds', '1.5'],
    ['--minutes', 'x'],
    ['--days', '1'],
    ['more'],
  ])('%s %s is rejected with a suggestion', (...args) =>
    expect(() => parseOptions(['console', ...args])).toThrow(/must be|--help/),
  )
})
