import { expect, test } from '@jest/globals'
import { NEW_KEY } from '../../../admin-api/keys/key-rules.ts'
import { nameRule } from '../../../admin-api/http/name-rule.ts'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { HIDDEN } from '../../schemas/hidden-keys.ts'
import { T0 } from '../../samples.ts'

test.each(HIDDEN)('a name with an API key %s is rejected', (_how, hide) => {
  const rule = nameRule('name', { max: 300 })
  const where = { field: 'name', now: T0 }
  expect(rule.check(hide(newApiKey()), where)).toMatchObject({
    faults: [{ message: expect.stringContaining('must not be or contain an API key') }],
  })
  const harmless = hide(`gps_${'a'.repeat(38)}`)
  expect(rule.check(harmless, where)).toEqual({ made: harmless })
})

test('a key cannot be bound to a device whose id contains an API key, even percent-encoded', () => {
  const where = { field: 'deviceIds', now: T0 }
  for (const deviceId of [newApiKey(), `van-${newApiKey()}`, newApiKey().replace('_', '%5F')]) {
    expect(NEW_KEY.deviceIds.check(['van', deviceId], where)).toHaveProperty('faults')
  }
})
