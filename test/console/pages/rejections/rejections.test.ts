import { expect, test, describe } from '@jest/globals'
import {
  groupRejections,
  causeOf,
  remedyOf,
  addRejection,
  prependNewest,
  type Rejection,
  type ShownRejections,
} from '../../../../console/pages/rejections/rejections.ts'

let made = 0
function rejection(change: Partial<Rejection> = {}): Rejection {
  made += 1
  const receivedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, -made)).toISOString()
  const cause = { error: 'INVALID_PARAMS', message: 'latitude must be a number' } as const
  const from = { keyId: 'key-1', deviceId: 'van', count: 1 }
  return { rejectionId: String(made), receivedAt, ...cause, ...from, ...change }
}

test('rejections with the same cause, device and key form one group, with their number and times', () => {
  const latest = rejection()
  const other = [
    rejection({ deviceId: 'bus' }),
    rejection({ keyId: 'key-2' }),
    rejection({ message: 'longitude must be a number' }),
  ]
  const nameless = rejection()
  delete nameless.deviceId
  const first = rejection({ count: 40 })
  expect(groupRejections([latest, ...other, nameless, first])).toEqual([
    { latest, count: 41, firstAt: first.receivedAt },
    ...[...other, nameless].map((one) => ({ latest: one, count: 1, firstAt: one.receivedAt })),
  ])
  expect(groupRejections([])).toEqual([])
})

test('rejections by a limit are one group, regardless of each sender’s waiting time', () => {
  const limit = 'this device may report 300 times in 60 s'
  const limited = (seconds: number) =>
    rejection({ error: 'RATE_LIMITED', message: `${limit}: send it again in ${seconds} s` })
  const [group, ...others] = groupRejections([limited(45), limited(46)])
  expect([group?.count, others]).toEqual([2, []])
  expect(causeOf(limited(45))).toBe('This device may report 300 times in 60 s.')
})

test.each([
  ['INVALID_PARAMS', 'latitude must be a number', 'Correct it'],
  ['PAYLOAD_TOO_LARGE', 'the body is larger than 16 KiB', 'fewer reports'],
  ['RATE_LIMITED', 'this device may report 300 times in 60 s', 'one report per second'],
  ['RATE_LIMITED', 'this API key may report 60 positions in 60 s', 'raise the limit of the key'],
  ['FORBIDDEN', 'this device is disabled', 'Enable the device'],
  ['FORBIDDEN', 'this API key may not report for this deviceId', 'devices of the key'],
  ['FORBIDDEN', 'this API key lacks the scope positions:write', 'permission “Send reports”'],
  ['FORBIDDEN', 'this API key lacks the scope positions:import', 'permission “Import history”'],
  ['FORBIDDEN', 'the account is suspended', 'the people who run the service'],
] as const)('the remedy for %s, "%s", says %s', (error, message, remedy) => {
  expect(remedyOf({ error, message })).toContain(remedy)
})

const arrived = (rejectionId: string, given: Partial<Rejection> = {}): Rejection => ({
  rejectionId,
  receivedAt: '2026-01-31T12:00:00.000Z',
  keyId: 'key',
  error: 'INVALID_PARAMS',
  message: 'latitude is missing',
  count: 1,
  ...given,
})
const ids = (rejections: readonly Rejection[]) => rejections.map((one) => one.rejectionId)

describe('rejections that arrive while the list is open', () => {
  test('new rejections come before the list, each once', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => arrived(id)) as [Rejection, Rejection, Rejection]
    let newest: readonly Rejection[] = []
    for (const one of [b, c, c]) newest = addRejection(newest, one, {})
    expect(ids(newest)).toEqual(['c', 'b'])
    expect(ids(prependNewest(newest, [b, a]))).toEqual(['c', 'b', 'a'])
  })

  test.each<[ShownRejections]>([
    [{ keyId: 'other' }],
    [{ deviceId: 'van' }],
    [{ error: 'FORBIDDEN' }],
    [{ from: '2026-01-31T12:00:00.001Z' }],
    [{ to: '2026-01-31T12:00:00.000Z' }],
  ])('are omitted if the filter %o excludes them', (filter) => {
    expect(addRejection([], arrived('a'), filter)).toEqual([])
  })

  test('rejections stay if the filter names their own time', () => {
    const filter = { from: '2026-01-31T12:00:00.000Z', to: '2026-01-31T12:00:00.001Z' }
    expect(addRejection([], arrived('a'), filter)).toHaveLength(1)
  })

  test('a higher count of rejections replaces the previous count', () => {
    const newest = addRejection([arrived('a')], arrived('a', { count: 7 }), {})
    expect(newest).toMatchObject([{ count: 7 }])
  })

  test('new rejections do not fill the memory', () => {
    let newest: readonly Rejection[] = []
    for (let n = 0; n < 1_000; n += 1) newest = addRejection(newest, arrived(String(n)), {})
    expect(newest).toHaveLength(200)
  })
})
