import { expect, test } from '@jest/globals'
import {
  handlingCalls,
  handlingText,
  isHandled,
  isOpenSos,
  pickLaterHandling,
  type ApiHandling,
} from '../../../console/core/alarms.ts'
import type { ApiFact } from '../../../console/core/device-facts.ts'

const ANA = { email: 'ana@example.org', role: 'dispatcher' }
const CHIEF = { email: 'chief@example.org', role: 'admin' }

function by(operator: string, state: ApiHandling['state'] = 'taken', minute = 20): ApiHandling {
  return { state, operator, at: `2026-11-28T17:${minute}:00.000Z` }
}

const fact = (type: ApiFact['type'], alarm?: string) =>
  ({ type, ...(alarm !== undefined && { alarm }) }) as ApiFact

test('between the list and the stream, the later state wins', () => {
  const [first, second] = [by('ana'), by('ana', 'closed', 21)]
  expect(pickLaterHandling(first, second)).toBe(second)
  expect(pickLaterHandling(second, first)).toBe(second)
  expect(pickLaterHandling(undefined, first)).toBe(first)
  expect(pickLaterHandling(first, undefined)).toBe(first)
  expect(pickLaterHandling(undefined, undefined)).toBeUndefined()
})

test('an SOS is open until it is closed, even if taken; other alarms alert nobody', () => {
  const sos = fact('alarm.reported', 'SOS')
  expect(isOpenSos(sos)).toBe(true)
  expect(isOpenSos(sos, by('ana'))).toBe(true)
  expect(isOpenSos(sos, by('ana', 'released'))).toBe(true)
  expect(isOpenSos(sos, by('ana', 'closed'))).toBe(false)
  expect(isOpenSos(fact('alarm.reported', 'lowBattery'))).toBe(false)
})

test('only alarms and raised rules can be handled', () => {
  expect(isHandled(fact('alarm.reported', 'lowBattery'))).toBe(true)
  expect(isHandled(fact('rule.raised'))).toBe(true)
  expect(isHandled(fact('rule.cleared'))).toBe(false)
})

test('no action is offered that the service would reject', () => {
  expect(handlingCalls(undefined, ANA)).toEqual(['take', 'close'])
  expect(handlingCalls(by('ben@example.org', 'released'), ANA)).toEqual(['take', 'close'])
  expect(handlingCalls(by(ANA.email), ANA)).toEqual(['close', 'release'])
  expect(handlingCalls(by(ANA.email, 'closed'), ANA)).toEqual(['release'])
  expect(handlingCalls(by('ben@example.org'), ANA)).toEqual([])
  expect(handlingCalls(by('ben@example.org'), CHIEF)).toEqual(['release'])
})

test('everybody sees who has taken it', () => {
  expect(handlingText(by('ben@example.org'), ANA.email)).toBe('Taken by ben@example.org')
  expect(handlingText(by(ANA.email, 'closed'), ANA.email)).toBe('Closed by you')
  expect(handlingText(by(ANA.email, 'released'), ANA.email)).toBeUndefined()
})
