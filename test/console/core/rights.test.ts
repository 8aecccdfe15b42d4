import { expect, test } from '@jest/globals'
import { rolesFrom } from '../../../admin-api/http/rights.ts'
import { roleMay, ROLE_NAMES, type Right } from '../../../console/core/rights.ts'
import { ROLES as ROLES_OF_API } from '../../../store/back-office.ts'
import { EXPECTED } from '../../admin-api/access-table.ts'

/** The calls that the controls with a right make. */
const CALLS: Readonly<Record<Right, readonly string[]>> = {
  'audit.read': ['GET /audit'],
  'devices.edit': ['PATCH /devices/:deviceId', 'POST /devices/labels'],
  'devices.disable': ['DELETE /devices/:deviceId'],
  'keys.edit': [
    ...['POST /keys', 'PATCH /keys/:id', 'POST /keys/:id/rotate', 'POST /keys/:id/revoke'],
    ...['POST /keys/identify', 'POST /test-report'],
  ],
  'operators.edit': [
    ...['GET /operators', 'POST /operators', 'PATCH /operators/:id', 'DELETE /operators/:id'],
  ],
  'shares.edit': ['GET /shares', 'POST /shares', 'DELETE /shares/:id'],
}

test('the console knows the roles of the API', () => {
  expect(ROLE_NAMES).toEqual(ROLES_OF_API)
})

test.each(Object.entries(CALLS))('the right %s is that of the calls %j', (right, calls) => {
  const may = ROLE_NAMES.filter((role) => roleMay(role, right as Right))
  for (const call of calls) {
    const needs = EXPECTED[call]?.needs === 'admin session' ? 'admin' : EXPECTED[call]?.needs
    expect({ call, may }).toEqual({ call, may: rolesFrom(needs as (typeof ROLES_OF_API)[number]) })
  }
})

test('a role that the console does not know has no rights', () => {
  expect(roleMay('owner', 'devices.edit')).toBe(false)
})
