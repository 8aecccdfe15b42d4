import { describe, expect, test } from '@jest/globals'
import { clockTime, endOfSession } from '../../../console/core/session-end.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')
const inSeconds = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString()
const end = (idle: number, last: number) =>
  endOfSession({ idleEndsAt: inSeconds(idle), endsAt: inSeconds(last) }, NOW)

describe('the end of a session', () => {
  test('the end of a session is announced two minutes before, not earlier and not afterwards', () => {
    expect(end(121, 9_999)).toBeUndefined()
    expect(end(120, 9_999)).toEqual({ leftMs: 120_000, canBeProlonged: true })
    expect(end(0, 9_999)).toBeUndefined()
  })

  test('the end of a session cannot be moved on where it ends anyhow', () => {
    expect(end(60, 60)).toEqual({ leftMs: 60_000, canBeProlonged: false })
    expect(end(3_600, 90)).toEqual({ leftMs: 90_000, canBeProlonged: false })
  })

  test('the end of a session is counted down in minutes and seconds', () => {
    expect([120_000, 65_000, 64_001, 9_000, 0].map(clockTime)).toEqual([
      ...['2:00', '1:05', '1:05', '0:09', '0:00'],
    ])
  })
})
