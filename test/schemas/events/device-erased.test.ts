import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { checkDeviceErased, decodeDeviceErased } from '../../../schemas/events/device-erased.ts'
import { UndecodableEventError } from '../../../schemas/events/event-fields.ts'
import { deviceKey } from '../../../schemas/events/position-reported.ts'
import { deviceErased } from '../../samples.ts'
import { anyIdentifier } from '../../any-text.ts'

test('account and device can be parsed from the key for any device id', () => {
  fc.assert(
    fc.property(anyIdentifier, (deviceId) => {
      const event = deviceErased({ deviceId })
      expect(decoded({ key: Buffer.from(deviceKey(event)), ...event })).toStrictEqual(event)
    }),
    { examples: [['a/b'], ['/'], ['//x/']] },
  )
})

test.each([
  ['without a key', { key: null }],
  ['with an empty key', { key: Buffer.alloc(0) }],
  ['with a key that has no slash', { key: Buffer.from('tracker-1') }],
  ['of no account', { key: Buffer.from('/tracker-1') }],
  ['of no device', { key: Buffer.from('acc-1/') }],
  ['of a device with a control character', { key: Buffer.from('acc-1/a\0b') }],
  ['with a key that is not UTF-8', { key: Buffer.from([0x61, 0x2f, 0xff]) }],
  ['with a value', { value: Buffer.from('{}') }],
  ['with an empty value', { value: Buffer.alloc(0) }],
  ['without an id', { eventId: undefined }],
  ['with an id that is not a ULID', { eventId: 'erasure-1' }],
  ['with an id that goes on', { eventId: `${deviceErased().eventId}\n` }],
  ['without a time', { erasedAt: undefined }],
  ['with a time that is none', { erasedAt: NaN }],
])('an erasure %s is rejected', (_what, changes) => {
  expect(() => decoded(changes)).toThrow(UndecodableEventError)
})

test('an account with a slash is rejected, because it could not be separated from its device', () => {
  expect(() => checkDeviceErased(deviceErased({ accountId: 'a/b' }))).toThrow('accountId')
})

function decoded(changes: Partial<Parameters<typeof decodeDeviceErased>[0]>) {
  const { eventId, erasedAt } = deviceErased()
  const key = Buffer.from('acc-1/tracker-1')
  return decodeDeviceErased({ key, value: null, eventId, erasedAt, ...changes })
}
