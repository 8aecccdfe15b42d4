import { describe, expect, test } from '@jest/globals'
import { rolesFrom } from '../../../admin-api/http/rights.ts'
import { ROLES as ROLES_OF_API } from '../../../store/operators.ts'
import { EXPECTED } from '../../admin-api/access-table.ts'
import {
  clockTime,
  endOfSession,
  ROLE_NAMES,
  roleMay,
  type Right,
} from '../../../console/core/session-rules.ts'

/** The calls made by the controls of a right. */
const CALLS: Readonly<Record<Right, readonly string[]>> = {
  'audit.read': ['GET /audit'],
  'devices.edit': ['PATCH /devices/:deviceId', 'POST /devices/labels'],
  'devices.disable': ['DELETE /devices/:deviceId'],
  'facts.handle': [...['POST /facts/:id/take', 'POST /facts/:id/release', 'POST /facts/:id/close']],
  'geofences.edit': [
    ...['POST /geofences', 'PATCH /geofences/:id', 'DELETE /geofences/:id'],
    'POST /geofences/import',
  ],
  'history.import': ['POST /imports', 'POST /imports/:id/positions', 'DELETE /imports/:id'],
  'keys.edit': [
    ...['POST /keys', 'PATCH /keys/:id', 'POST /keys/:id/rotate', 'POST /keys/:id/revoke'],
    ...['POST /keys/identify', 'POST /test-report'],
  ],
  'operators.edit': [
    ...['GET /operators', 'POST /operators', 'PATCH /operators/:id', 'DELETE /operators/:id'],
  ],
  'rules.edit': ['POST /rules', 'PATCH /rules/:id', 'DELETE /rules/:id'],
  'shares.edit': ['GET /shares', 'POST /shares', 'DELETE /shares/:id'],
  'subscriptions.edit': [
    ...['POST /subscriptions', 'PATCH /subscriptions/:id', 'DELETE /subscriptions/:id'],
    ...['test', 'rotate', 'enable', 'rewind', 'resend'].map(
      (one) => `POST /subscriptions/:id/${one}`,
    ),
    'GET /subscriptions/:id/deliveries',
  ],
}

test('the console knows the roles of the API', () => {
  expect(ROLE_NAMES).toEqual(ROLES_OF_API)
})

test.each(Object.entries(CALLS))('the right %s matches the calls %j', (right, calls) => {
  const may = ROLE_NAMES.filter((role) => roleMay(role, right as Right))
  for (const call of calls) {
    const needs = EXPECTED[call]?.needs.replace(' session', '')
    expect({ call, may }).toEqual({ call, may: rolesFrom(needs as (typeof ROLES_OF_API)[number]) })
  }
})

test('a role that the console does not know has no rights', () => {
  expect(roleMay('owner', 'devices.edit')).toBe(false)
})

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

  test('a session cannot be extended beyond its absolute end', () => {
    expect(end(60, 60)).toEqual({ leftMs: 60_000, canBeProlonged: false })
    expect(end(3_600, 90)).toEqual({ leftMs: 90_000, canBeProlonged: false })
  })

  test('the end of a session is counted down in minutes and seconds', () => {
    expect([120_000, 65_000, 64_001, 9_000, 0].map(clockTime)).toEqual([
      ...['2:00', '1:05', '1:05', '0:09', '0:00'],
    ])
  })
})
