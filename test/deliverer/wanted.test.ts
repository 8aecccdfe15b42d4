import { expect, test } from '@jest/globals'
import { ageOf, wants } from '../../deliverer/run/wanted.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import {
  markCaughtUp,
  markHealthy,
  newProgress,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import { newSubscription } from '../contracts/store-subscriptions.ts'
import { positionReported, T0 } from '../samples.ts'

const ENTERED = { type: 'geofence.entered', geofence: { id: 'depot', name: 'Depot', revision: 1 } }

const fact = (changes: object = ENTERED): DeviceFact =>
  ({
    id: 'x',
    sequence: 1,
    accountId: 'acc-1',
    deviceId: 'van-1',
    at: T0,
    decidedAt: T0,
    inside: ['depot', 'city'],
    ...changes,
  }) as object as DeviceFact
const sends = (given: Partial<DeviceSubscription>, event?: object, now = T0) =>
  wants(newSubscription({ accountId: 'acc-1', ...given }), fact(event)) &&
  ageOf(newSubscription({ accountId: 'acc-1', ...given }), fact(event), now) === 'sent'

test('without conditions a subscription sends everything', () => {
  expect(sends({})).toBe(true)
})

test('facts can be selected by type, device, geofence and rule', () => {
  expect([sends({ types: ['geofence.entered'] }), sends({ types: ['device.offline'] })]).toEqual([
    true,
    false,
  ])
  expect([sends({ deviceIds: ['van-1'] }), sends({ deviceIds: ['van-2'] })]).toEqual([true, false])
  expect([sends({ geofenceIds: ['depot'] }), sends({ geofenceIds: ['elsewhere'] })]).toEqual([
    true,
    false,
  ])
  // A fact about something else, of a device that is in the geofence.
  const raised = { type: 'rule.raised', rule: { id: 'fast' } }
  expect(sends({ geofenceIds: ['city'] }, raised)).toBe(true)
  expect([sends({ ruleIds: ['fast'] }, raised), sends({ ruleIds: ['slow'] }, raised)]).toEqual([
    true,
    false,
  ])
  expect(sends({ ruleIds: ['fast'] })).toBe(false)
})

test('devices are selected by their labels at delivery', () => {
  expect(sends({ labels: ['vans'] })).toBe(true)
  expect(sends({ labels: ['vans'], deviceIds: ['other'] })).toBe(true)
})

test('items that are too old are skipped: for a webhook never by default, for a chat after an hour', () => {
  const hours = (n: number) => T0 + n * 3_600_000
  const chat = { target: { kind: 'slack', url: 'https://example.org' } } as const
  expect([
    sends({}, undefined, hours(999)),
    sends({ maxAgeSeconds: 60 }, undefined, T0 + 61_000),
  ]).toEqual([true, false])
  expect([sends(chat, undefined, hours(1)), sends(chat, undefined, hours(1) + 1)]).toEqual([
    true,
    false,
  ])
})

test.each([
  ['an alarm that comes two hours late', { type: 'alarm.reported', alarm: 'sos', late: true }],
  ['a silence found after an outage', { type: 'device.offline' }],
])('the age of %s is counted from the decision', (_what, event) => {
  const chat = { target: { kind: 'slack', url: 'https://example.org' } } as const
  const late = { ...event, at: T0 - 2 * 3_600_000, decidedAt: T0 }
  expect([sends(chat, late), sends(chat, late, T0 + 3_600_001)]).toEqual([true, false])
  const position = { timestamp: T0 - 2 * 3_600_000, receivedAt: T0 }
  const age = (now: number) =>
    ageOf(newSubscription({ accountId: 'acc-1', ...chat }), positionReported(position), now)
  expect([age(T0), age(T0 + 3_600_001)]).toEqual(['sent', 'too old'])
})

test('items due while the receiver failed stay deliverable for a day, and are then omitted', () => {
  const hours = (n: number) => T0 + n * 3_600_000
  const progress = { ...newProgress('m'), failingSince: T0 }
  const given = { target: { kind: 'ntfy', url: 'https://example.org' }, progress } as const
  const subscription = newSubscription({ accountId: 'acc-1', ...given })
  const age = (decidedAt: number, now: number, of = subscription) =>
    ageOf(of, fact({ decidedAt }), now)
  expect([age(hours(1), hours(25)), age(hours(1), hours(25) + 1)]).toEqual(['sent', 'omitted'])
  expect([age(hours(-1), hours(2)), age(hours(-1) - 1, hours(2))]).toEqual(['sent', 'too old'])
  const mended = { ...subscription, progress: markHealthy(progress) }
  expect(age(hours(1), hours(9), mended)).toBe('sent')
  expect(age(hours(1), hours(9), { ...mended, progress: markCaughtUp(mended.progress) })).toBe(
    'too old',
  )
  const brief = { ...subscription, maxAgeSeconds: 3 * 86_400 }
  expect([age(hours(1), hours(72), brief), age(hours(1), hours(74), brief)]).toEqual([
    'sent',
    'omitted',
  ])
})

test("a position's age is counted from its timestamp, or from its receipt if the timestamp is in the future", () => {
  const hours = { days: [4], from: '00:00', to: '01:00', zone: 'UTC' }
  const subscription = newSubscription({ accountId: 'acc-1', source: 'positions', hours })
  const at = (timestamp: number, receivedAt: number) =>
    wants(subscription, positionReported({ timestamp, receivedAt }))
  // 2026-01-01 is a Thursday.
  expect([at(T0, T0 + 9 * 3_600_000), at(T0 + 9 * 3_600_000, T0)]).toEqual([true, true])
  expect(at(T0 + 2 * 3_600_000, T0 + 3 * 3_600_000)).toBe(false)
})
