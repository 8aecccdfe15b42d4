import { expect, test } from '@jest/globals'
import { isInForce, keyStatus } from '../../store/keys.ts'
import { apiKey } from '../contracts/store-samples.ts'
import { T0 } from '../samples.ts'

const key = apiKey({ accountId: 'acc-1' })

test.each([
  [{}, 'active'],
  [{ expiresAt: T0 + 1 }, 'active'],
  [{ expiresAt: T0 }, 'expired'],
  [{ previousValidUntil: T0 + 1 }, 'rotating'],
  [{ previousValidUntil: T0 }, 'active'],
  [{ expiresAt: T0, previousValidUntil: T0 + 1 }, 'expired'],
  [{ revokedAt: T0 + 5, previousValidUntil: T0 + 1 }, 'revoked'],
  [{ revokedAt: T0 - 5, expiresAt: T0 - 9 }, 'revoked'],
] as const)(
  'a key with %j is %s, and its secret works only while active or rotating',
  (fields, status) => {
    const changed = { ...key, ...fields }
    expect(keyStatus(changed, T0)).toBe(status)
    const grant = { key: changed, accountSuspended: false, disabledDevices: new Set<string>() }
    expect(isInForce(grant, T0)).toBe(status === 'active' || status === 'rotating')
  },
)

test('a secret whose grace time is over is not valid', () => {
  const grant = { key, accountSuspended: false, disabledDevices: new Set<string>() }
  expect(isInForce({ ...grant, secretValidUntil: T0 + 1 }, T0)).toBe(true)
  expect(isInForce({ ...grant, secretValidUntil: T0 }, T0)).toBe(false)
})
