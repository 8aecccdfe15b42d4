import { expect, test } from '@jest/globals'
import { addressesBelow, matchPath } from '../../../console/core/address.ts'

test.each([
  ['http://localhost:8081/', '/keys?q=1', '/keys?q=1'],
  ['https://fleet.example.org/gps/', '/keys?q=1', '/gps/keys?q=1'],
  ['https://fleet.example.org/a/b/', '/', '/a/b/'],
])('below %s the address of %s is %s, and leads back to it', (base, path, address) => {
  const addresses = addressesBelow(base)
  expect(addresses.of(path)).toBe(address)
  expect(addresses.pathAt(address)).toBe(path)
})

test('an address outside the console has no console path', () => {
  const addresses = addressesBelow('https://fleet.example.org/gps/')
  for (const address of ['/', '/gps', '/gpsx/keys', '/other/gps/']) {
    expect(addresses.pathAt(address)).toBeUndefined()
  }
})

test('a path yields its parameters', () => {
  expect(matchPath('/', '/')).toEqual({})
  expect(matchPath('/keys', '/keys')).toEqual({})
  expect(matchPath('/keys', '/keys/')).toEqual({})
  expect(matchPath('/devices/:deviceId', '/devices/van-1')).toEqual({ deviceId: 'van-1' })
})

test.each(['a/b', '%', '../x', '😀'.repeat(64), '\u202Eabc', ' a b ', '<img onerror>'])(
  'the id %p survives the address',
  (deviceId) => {
    const path = `/devices/${encodeURIComponent(deviceId)}`
    expect(matchPath('/devices/:deviceId', path)).toEqual({ deviceId })
  },
)

test('another path does not match', () => {
  expect(matchPath('/keys', '/')).toBeUndefined()
  expect(matchPath('/keys', '/keys/x')).toBeUndefined()
  expect(matchPath('/devices/:deviceId', '/devices')).toBeUndefined()
})

test.each(['/devices/%', '/devices/%E0%A4', '/devices/%FF'])('%s cannot be read', (path) => {
  expect(matchPath('/devices/:deviceId', path)).toBe('unreadable')
})
