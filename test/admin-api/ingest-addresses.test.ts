import { expect, test } from '@jest/globals'
import { ingestAddresses, isLoopback } from '../../admin-api/ingest-addresses.ts'

const usual = { host: '127.0.0.1', ingestPort: 8080 }

test.each([
  [usual, undefined, 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  [{ host: '::1', ingestPort: 9000 }, undefined, 'http://[::1]:9000', 'http://[::1]:9000'],
  [
    { ...usual, ingestPort: 0 },
    'http://127.0.0.1:41234',
    'http://127.0.0.1:41234',
    'http://127.0.0.1:41234',
  ],
  [{ ...usual, host: '0.0.0.0' }, undefined, 'http://gps.lan:8080', 'http://127.0.0.1:8080'],
  [{ ...usual, host: '::' }, 'http://[::]:8080', 'http://gps.lan:8080', 'http://[::1]:8080'],
  [{ ...usual, ingestPort: 0 }, undefined, undefined, undefined],
  [
    { ...usual, ingestPublicUrl: 'https://gps.example', ingestInternalUrl: 'http://ingest:1' },
    'http://127.0.0.1:41234',
    'https://gps.example',
    'http://ingest:1',
  ],
])(
  'with %j, an ingest API that listens at %s is at %s for senders and at %s from here',
  (config, listens, told, internal) => {
    const own = listens === undefined ? undefined : { url: listens, testSecret: 'ours' }
    const addresses = ingestAddresses(config, own)
    expect(addresses.forSenders('gps.lan')).toBe(told)
    expect(addresses.internal).toBe(internal)
  },
)

test.each([
  ['192.0.2.7', 'http://192.0.2.7:8080'],
  ['[2001:db8::1]', 'http://[2001:db8::1]:8080'],
  ['0.0.0.0', 'http://localhost:8080'],
  ['[::]', 'http://localhost:8080'],
  ['', 'http://localhost:8080'],
  ['user@evil.example', 'http://localhost:8080'],
  ['evil.example/path', 'http://localhost:8080'],
  ['a"><script>', 'http://localhost:8080'],
])('requested under %j, an ingest API on every address is at %s', (asked, told) => {
  expect(ingestAddresses({ ...usual, host: '0.0.0.0' }, undefined).forSenders(asked)).toBe(told)
})

test('loopback addresses are reachable only from this machine', () => {
  const urls = ['http://localhost:1', 'http://a.localhost', 'http://127.8.0.1', 'http://[::1]:2']
  expect(urls.map(isLoopback)).toEqual(urls.map(() => true))
  const others = ['http://192.168.1.2', 'https://localhost.example', 'http://[2001:db8::1]']
  expect(others.map(isLoopback)).toEqual(others.map(() => false))
})
