import { describe, expect, test } from '@jest/globals'
import { silenceReasons, type SilenceFacts } from '../../../console/core/silence.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-01-31T12:00:00.000Z')
const at = (minutesAgo: number) => new Date(NOW - minutesAgo * MINUTE).toISOString()
const ms = (minutesAgo: number) => NOW - minutesAgo * MINUTE

const KEY = { revokedAt: null, expiresAt: null, previousValidUntil: null }
const SEEN = { lastSeenMs: ms(90), isDisabled: false, battery: undefined }
const REFUSED = { error: 'INVALID_PARAMS', message: 'latitude must be a number' } as const

function reasons(facts: Partial<SilenceFacts>) {
  return silenceReasons({ device: SEEN, ...facts }, NOW)
}

/** Reports by minutes since receipt, and minutes from recording to receipt. */
function received(minutesAgo: readonly number[], { late = 0, imported = false } = {}) {
  return minutesAgo.map((minutes) => ({
    receivedAt: at(imported ? 0 : minutes),
    timestamp: at(minutes + late),
    ...(imported && { imported }),
  }))
}

function minutesFrom(first: number, accepted: readonly (number | null)[]) {
  return accepted.map((count, index) => ({ start: at(first - index), accepted: count }))
}

describe('the reasons for a silence', () => {
  test('are empty if nothing is known', () => {
    expect(reasons({})).toEqual([])
    expect(
      reasons({ key: KEY, rejections: [], positions: [], minutes: minutesFrom(90, [3, 0, 1]) }),
    ).toEqual([])
  })

  test('include a key that was revoked, has expired, or whose previous secret has expired', () => {
    expect(reasons({ key: { ...KEY, revokedAt: at(60), expiresAt: at(70) } })).toEqual([
      { kind: 'key-revoked', sinceMs: ms(60) },
    ])
    expect(reasons({ key: { ...KEY, expiresAt: at(70) } })).toEqual([
      { kind: 'key-expired', sinceMs: ms(70) },
    ])
    expect(reasons({ key: { ...KEY, previousValidUntil: at(80) } })).toEqual([
      { kind: 'key-rotated', sinceMs: ms(80) },
    ])
  })

  test('exclude a key that still works, and a secret that expired before the device last reported', () => {
    const later = { ...KEY, expiresAt: at(-1), previousValidUntil: at(-1) }
    expect(reasons({ key: later })).toEqual([])
    expect(reasons({ key: { ...KEY, previousValidUntil: at(100) } })).toEqual([])
  })

  test('include refusals since the device last reported, with the cause of the latest', () => {
    const rejections = [
      { ...REFUSED, receivedAt: at(10) },
      { ...REFUSED, receivedAt: at(20), message: 'longitude must be a number' },
      { ...REFUSED, receivedAt: at(30) },
      { ...REFUSED, receivedAt: at(90) },
    ]
    expect(reasons({ rejections })).toEqual([
      { kind: 'refused', firstMs: ms(30), lastMs: ms(10), ...REFUSED },
    ])
  })

  test('put refusals before the key if they came after its end, otherwise after it', () => {
    const key = { ...KEY, revokedAt: at(60) }
    const kinds = (minutesAgo: number) =>
      reasons({ key, rejections: [{ ...REFUSED, receivedAt: at(minutesAgo) }] }).map(
        ({ kind }) => kind,
      )
    expect(kinds(50)).toEqual(['refused', 'key-revoked'])
    expect(kinds(70)).toEqual(['key-revoked', 'refused'])
  })

  test('include that the device is disabled, and then omit its refusals', () => {
    const rejections = [
      { error: 'FORBIDDEN', message: 'this device is disabled', receivedAt: at(5) } as const,
    ]
    expect(reasons({ device: { ...SEEN, isDisabled: true }, rejections })).toEqual([
      { kind: 'disabled' },
    ])
    expect(reasons({ rejections })).toEqual([])
  })

  test('include an unknown id, after all its refusals', () => {
    const rejections = [{ ...REFUSED, receivedAt: at(10) }]
    expect(reasons({ device: undefined }).map(({ kind }) => kind)).toEqual(['unknown-device'])
    expect(reasons({ device: undefined, rejections }).map(({ kind }) => kind)).toEqual([
      'refused',
      'unknown-device',
    ])
  })

  test('include that all its positions were imported, and a clock that is behind', () => {
    const device = { ...SEEN, isHistory: true }
    expect(reasons({ device })).toEqual([{ kind: 'only-imported' }])
    const clock = {
      kind: 'clock-behind' as const,
      datedMs: ms(9_999_999),
      receivedMs: ms(90),
      isRollover: false,
      isLast: false,
    } as const
    expect(reasons({ clock })).toEqual([clock])
  })

  test('include minutes without the service since the device last reported', () => {
    const minutes = minutesFrom(92, [null, 1, 2, null, null, 4, null, 0, null])
    expect(reasons({ minutes })).toEqual([
      { kind: 'service-away', fromMs: ms(89), toMs: ms(85), minutes: 3 },
    ])
    const positions = received([90], { imported: true })
    expect(reasons({ minutes, positions })).toEqual([])
  })

  test('include a usual interval that has not passed; reports that arrived together count once', () => {
    const device = { ...SEEN, lastSeenMs: ms(10) }
    const positions = received([10, 10, 10, 40, 71, 100, 400])
    const notDue = { kind: 'not-due', everyMs: 30 * MINUTE, dueMs: ms(-20) }
    expect(reasons({ device, positions })).toEqual([notDue])
    expect(reasons({ positions: received([90, 120, 150, 180, 210]) })).toEqual([])
    expect(reasons({ device, positions: received([10, 40, 70, 100]) })).toEqual([])
    const imported = received([10, 40, 70, 100, 130], { imported: true })
    expect(reasons({ device, positions: imported })).toEqual([notDue])
  })

  test('include late reports, but not imported ones', () => {
    const times = [90, 91, 92, 93, 94]
    expect(reasons({ positions: received(times, { late: 180 }) })).toEqual([
      { kind: 'late', byMs: 180 * MINUTE },
    ])
    expect(reasons({ positions: received(times, { late: 4 }) })).toEqual([])
    expect(reasons({ positions: received(times, { late: 180, imported: true }) })).toEqual([])
  })

  test('include a battery of at most 15 %', () => {
    expect(reasons({ device: { ...SEEN, battery: 0.15 } })).toEqual([
      { kind: 'battery-low', fraction: 0.15 },
    ])
    expect(reasons({ device: { ...SEEN, battery: 0.16 } })).toEqual([])
  })

  test('are ordered by likelihood', () => {
    const facts = {
      device: { lastSeenMs: ms(10), isDisabled: true, battery: 0.04 },
      key: { ...KEY, revokedAt: at(5) },
      rejections: [{ ...REFUSED, receivedAt: at(8) }],
      positions: received([10, 40, 70, 100, 130], { late: 60 }),
      minutes: minutesFrom(10, [1, null, 2]),
    }
    expect(reasons(facts).map(({ kind }) => kind)).toEqual([
      ...['key-revoked', 'refused', 'disabled', 'service-away', 'battery-low'],
    ])
    const device = { ...facts.device, isDisabled: false }
    const reporting = { device, positions: facts.positions, minutes: facts.minutes }
    expect(reasons(reporting).map(({ kind }) => kind)).toEqual([
      ...['service-away', 'not-due', 'late', 'battery-low'],
    ])
  })

  test('never advise waiting if reports are rejected', () => {
    const positions = received([10, 40, 70, 100, 130], { late: 60 })
    const device = { ...SEEN, lastSeenMs: ms(10) }
    const kinds = (facts: Partial<SilenceFacts>) =>
      reasons({ device, positions, ...facts }).map(({ kind }) => kind)
    expect(kinds({})).toEqual(['not-due', 'late'])
    expect(kinds({ key: { ...KEY, revokedAt: at(5) } })).toEqual(['key-revoked'])
    expect(kinds({ device: { ...device, isDisabled: true } })).toEqual(['disabled'])
    expect(kinds({ rejections: [{ ...REFUSED, receivedAt: at(5) }] })).toEqual(['refused'])
  })
})
