import { expect, test } from '@jest/globals'
import {
  isInNetworks,
  isPublicAddress,
  parseNetwork,
} from '../../../runtime/outbound/outbound-url.ts'

const PUBLIC = [
  '1.1.1.1',
  '93.184.216.34',
  '172.32.0.1',
  '2606:4700:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
  '2002:101:101::1',
]

const NOT_PUBLIC = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.8',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd12:3456::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '100::1',
  // 127.0.0.1 and 169.254.169.254, mapped, compatible, by NAT64, 6to4 and Teredo.
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '2001:0:101:101::80ff:fffe',
  '2001:0:7f00:1::fefe:fefe',
  '',
  'example.org',
]

test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))

test.each(NOT_PUBLIC)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))

test('a network contains exactly its addresses, even in wrapped forms', () => {
  const networks = [parseNetwork('10.0.0.0/8')!, parseNetwork('fd00::/8')!]
  const inside = ['10.255.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'fd00::7']
  expect(inside.filter((address) => !isInNetworks(address, networks))).toEqual([])
  const outside = ['11.0.0.1', '::ffff:11.0.0.1', 'fe80::1', '', 'x']
  expect(outside.filter((address) => isInNetworks(address, networks))).toEqual([])
})

test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', ''])('%p is not a network', (text) =>
  expect(parseNetwork(text)).toBeUndefined(),
)
