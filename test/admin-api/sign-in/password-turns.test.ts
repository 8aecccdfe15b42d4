import { expect, test } from '@jest/globals'
import { clientOf } from '../../../admin-api/sign-in/password-turns.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['::3:4:5:6:7:8', '0:0:3:4::/64'],
  ['none', 'none'],
])('%s is the client %s', (address, client) => {
  expect(clientOf(address)).toBe(client)
})
