import { expect, test } from '@jest/globals'
import { addressesBelow } from '../../../console/core/address.ts'

test.each([
  ['http://localhost:8081/', '/keys?q=1', '/keys?q=1'],
  ['https://fleet.example.org/gps/', '/keys?q=1', '/gps/keys?q=1'],
  ['https://fleet.example.org/a/b/', '/', '/a/b/'],
])('below %s the address of %s is %s, and leads back to it', (base, path, address) => {
  const addresses = addressesBelow(base)
  expect(addresses.of(path)).toBe(address)
  expect(addresses.pathAt(address)).toBe(path)
})

test('an address outside the console has no path in it', () => {
  const addresses = addressesBelow('https://fleet.example.org/gps/')
  for (const address of ['/', '/gps', '/gpsx/keys', '/other/gps/']) {
    expect(addresses.pathAt(address)).toBeUndefined()
  }
})
