import { expect, test, describe } from '@jest/globals'
import {
  formatAgain,
  momentOf,
  momentInAddress,
  stepReports,
  normalizeMoment,
} from '../../../console/core/moment.ts'

test.each([
  ['14:05', 'UTC', '2026-11-22T14:05:00.999Z'],
  ['14:05:55', 'UTC', '2026-11-22T14:05:55.999Z'],
  ['2026-11-20T14:05', 'UTC', '2026-11-20T14:05:00.999Z'],
  ['00:00', 'Europe/Vienna', '2026-11-21T23:00:00.999Z'],
])('%s in %s is the end of that second', (text, zone, moment) => {
  expect(new Date(momentOf(text, '2026-11-22', zone) ?? 0).toISOString()).toBe(moment)
})

test.each(['', '24:00', '1:05', '14:60', 'noon', '14:05:55.5', '2026-02-30T10:00'])(
  '%p is not a time',
  (text) => {
    expect(momentOf(text, '2026-11-22', 'UTC')).toBeUndefined()
  },
)

test('a time includes its day only if several days are shown', () => {
  const at = Date.parse('2026-11-22T23:30:05Z')
  const [day, other] = ['2026-11-22', '2026-11-23']
  expect(momentInAddress(at, { first: day, last: day }, 'UTC')).toBe('23:30:05')
  expect(momentInAddress(at, { first: day, last: other }, 'Europe/Vienna')).toBe(
    '2026-11-23T00:30:05',
  )
})

test('both times of a repeated hour have an address, can be typed, and differ in the display', () => {
  const day = '2026-10-25'
  const span = { first: day, last: day }
  const [first, second] = ['00:35', '01:35'].map((utc) => Date.parse(`${day}T${utc}:07Z`))
  const texts = [first, second].map((at = 0) => momentInAddress(at, span, 'Europe/Vienna'))
  expect(texts).toEqual(['02:35:07', '02:35:07again'])
  const moments = texts.map((text) => momentOf(text, day, 'Europe/Vienna'))
  expect(moments).toEqual([first, second].map((at = 0) => at + 999))
  const typed = ['2:35:07', '02:35:07 again', '2:35:07 am Again'].map(normalizeMoment)
  expect(typed.map((text) => momentOf(text, day, 'Europe/Vienna'))).toEqual([
    moments[0],
    moments[1],
    moments[1],
  ])
  expect(moments.map((at = 0) => formatAgain(at, 'Europe/Vienna'))).toEqual(['', ' again'])
  // Lord Howe Island sets its clocks back by half an hour.
  const later = Date.parse('2026-04-04T15:15:00Z')
  const [island, sunday] = ['Australia/Lord_Howe', '2026-04-05'] as const
  const text = momentInAddress(later, { first: sunday, last: sunday }, island)
  expect(text).toBe('01:45:00again')
  expect(momentOf(text, sunday, island)).toBe(later + 999)
})

const REPORTS = [10_000, 20_000, 20_000, 20_500, 30_000].map((at) => ({ at }))

describe('steps from report to report', () => {
  test('move to the next time with a report in either direction', () => {
    expect(stepReports(REPORTS, 10_000, 1)).toEqual({ at: 20_000, left: 0 })
    expect(stepReports(REPORTS, 20_500, -1)).toEqual({ at: 20_000, left: 0 })
    expect(stepReports(REPORTS, 20_000, -1)).toEqual({ at: 10_000, left: 0 })
    expect(stepReports(REPORTS, 10_000, 3)).toEqual({ at: 30_000, left: 0 })
  })

  test('lead from between two reports to either of them', () => {
    expect(stepReports(REPORTS, 15_000, -1)).toEqual({ at: 10_000, left: 0 })
    expect(stepReports(REPORTS, 15_000, 1)).toEqual({ at: 20_000, left: 0 })
    expect(stepReports(REPORTS, 5_000, 1)).toEqual({ at: 10_000, left: 0 })
  })

  test('lead from the end of a second past the report in it', () => {
    expect(stepReports(REPORTS, 10_999, 1)).toEqual({ at: 20_000, left: 0 })
    expect(stepReports(REPORTS, 30_999, -1)).toEqual({ at: 20_500, left: 0 })
  })

  test('that lead beyond the reports change nothing', () => {
    expect(stepReports(REPORTS, 20_500, 4)).toEqual({ at: 30_000, left: 3 })
    expect(stepReports(REPORTS, 10_000, -2)).toEqual({ at: 10_000, left: -2 })
    expect(stepReports(REPORTS, 5_000, -1)).toEqual({ at: 5_000, left: -1 })
    expect(stepReports([], 5_000, 1)).toEqual({ at: 5_000, left: 1 })
  })
})
