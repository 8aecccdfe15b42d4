import { describe, expect, test } from '@jest/globals'
import { walk } from '../../../console/core/steps.ts'

const REPORTS = [10_000, 20_000, 20_000, 20_500, 30_000].map((at) => ({ at }))

describe('steps from report to report', () => {
  test('lead to the next moment with a report, either way', () => {
    expect(walk(REPORTS, 10_000, 1)).toEqual({ at: 20_000, left: 0 })
    expect(walk(REPORTS, 20_500, -1)).toEqual({ at: 20_000, left: 0 })
    expect(walk(REPORTS, 20_000, -1)).toEqual({ at: 10_000, left: 0 })
    expect(walk(REPORTS, 10_000, 3)).toEqual({ at: 30_000, left: 0 })
  })

  test('lead from between two reports to either of them', () => {
    expect(walk(REPORTS, 15_000, -1)).toEqual({ at: 10_000, left: 0 })
    expect(walk(REPORTS, 15_000, 1)).toEqual({ at: 20_000, left: 0 })
    expect(walk(REPORTS, 5_000, 1)).toEqual({ at: 10_000, left: 0 })
  })

  test('leave from the end of a second the report in it', () => {
    expect(walk(REPORTS, 10_999, 1)).toEqual({ at: 20_000, left: 0 })
    expect(walk(REPORTS, 30_999, -1)).toEqual({ at: 20_500, left: 0 })
  })

  test('that lead beyond the reports are left', () => {
    expect(walk(REPORTS, 20_500, 4)).toEqual({ at: 30_000, left: 3 })
    expect(walk(REPORTS, 10_000, -2)).toEqual({ at: 10_000, left: -2 })
    expect(walk(REPORTS, 5_000, -1)).toEqual({ at: 5_000, left: -1 })
    expect(walk([], 5_000, 1)).toEqual({ at: 5_000, left: 1 })
  })
})
