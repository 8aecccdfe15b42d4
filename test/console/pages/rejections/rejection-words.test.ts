import { expect, test } from '@jest/globals'
import type { Rejection } from '../../../../console/pages/rejections/merge-rejections.ts'
import { alike, causeOf, remedyOf } from '../../../../console/pages/rejections/rejection-words.ts'

let made = 0
function rejection(change: Partial<Rejection> = {}): Rejection {
  made += 1
  const receivedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, -made)).toISOString()
  const cause = { error: 'INVALID_PARAMS', message: 'latitude must be a number' } as const
  const from = { keyId: 'key-1', deviceId: 'van', count: 1 }
  return { rejectionId: String(made), receivedAt, ...cause, ...from, ...change }
}

test('rejections with the same cause, device and key are one, with their number and times', () => {
  const latest = rejection()
  const other = [
    rejection({ deviceId: 'bus' }),
    rejection({ keyId: 'key-2' }),
    rejection({ message: 'longitude must be a number' }),
  ]
  const nameless = rejection()
  delete nameless.deviceId
  const first = rejection({ count: 40 })
  expect(alike([latest, ...other, nameless, first])).toEqual([
    { latest, count: 41, firstAt: first.receivedAt },
    ...[...other, nameless].map((one) => ({ latest: one, count: 1, firstAt: one.receivedAt })),
  ])
  expect(alike([])).toEqual([])
})

test('rejections by a limit are one group, regardless of each sender’s waiting time', () => {
  const limit = 'this device may report 300 times in 60 s'
  const limited = (seconds: number) =>
    rejection({ error: 'RATE_LIMITED', message: `${limit}: send it again in ${seconds} s` })
  const [group, ...others] = alike([limited(45), limited(46)])
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
  ['FORBIDDEN', 'the account is suspended', 'whoever runs the service'],
] as const)('the remedy for %s, "%s", says %s', (error, message, remedy) => {
  expect(remedyOf({ error, message })).toContain(remedy)
})
