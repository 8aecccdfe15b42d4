import { expect, test } from '@jest/globals'
import { clientAddress, clientOf, plainAddress } from '../../../runtime/http/client-address.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:4711', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2:3:4:5:6]:4711', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['::3:4:5:6:7:8', '0:0:3:4::/64'],
  ['none', 'none'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('%s is the client %s', (address, client) => {
  expect(clientOf(address)).toBe(client)
})

test.each([
  ['203.0.113.7:4711', '203.0.113.7'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:0DB8::0001', '2001:db8::1'],
  // Eight groups, so the ninth is a port.
  ['2001:db8:1:2:3:4:5:6:4711', '2001:db8:1:2:3:4:5:6'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['[::FFFF:203.0.113.7]:80', '203.0.113.7'],
  ['::ffff:203.0.113.7:80', '203.0.113.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%25en0]:1', 'fe80::1'],
  [' 203.0.113.7:4711 ', '203.0.113.7'],
  ['client.example.org:4711', 'client.example.org'],
  ['', ''],
])('the address %j is displayed and counted as %j', (written, address) => {
  expect(plainAddress(written)).toBe(address)
})

test.each([
  ['192.0.2.1', 'a, b, c', 0],
  ['c', 'a, b, c', 1],
  ['b', 'a,b ,c', 2],
  ['a', 'a', 2],
  ['203.0.113.7', '198.51.100.1:1, 203.0.113.7:4711', 1],
  ['192.0.2.1', '', 1],
  ['192.0.2.1', 'a, ', 1],
  ['192.0.2.1', undefined, 1],
])(
  'the address is %s with X-Forwarded-For %j behind %i proxies',
  (address, forwarded, trustProxy) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const socket = { remoteAddress: '::ffff:192.0.2.1' } as Parameters<
      typeof clientAddress
    >[0]['socket']
    expect(clientAddress({ headers, socket }, { trustProxy })).toBe(address)
  },
)
