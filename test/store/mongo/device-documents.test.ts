import { expect, test } from '@jest/globals'
import type { DeviceStatusDocument } from '../../../store/mongo/collections.ts'
import { deviceStatusOf } from '../../../store/mongo/device-documents.ts'
import { T0 } from '../../samples.ts'

test('a status that version 0.2.0 wrote is read, received when it was seen last, with no key', () => {
  const [at, applied] = [new Date(T0), { 0: 8 }]
  const position = { recordId: 'record-1', latitude: 52, longitude: 13 }
  const document: DeviceStatusDocument = {
    _id: 'acc-1/van',
    accountId: 'acc-1',
    deviceId: 'van',
    applied,
    reportCount: 3,
    firstSeenAt: at,
    lastSeenAt: at,
    lastPosition: { ...position, timestamp: at, receivedAt: at },
    heartbeats: { 0: { offset: 8, receivedAt: at } },
  }
  expect(deviceStatusOf(document)).toEqual({
    accountId: 'acc-1',
    deviceId: 'van',
    applied,
    reportCount: 3,
    firstSeenAt: T0,
    lastSeenAt: T0,
    lastReceivedAt: T0,
    lastKeyAt: T0,
    lastKeyEventId: 'record-1',
    lastKeyId: '',
    lastPosition: { ...position, timestamp: T0, receivedAt: T0 },
    heartbeats: { 0: { offset: 8, receivedAt: T0, eventId: '', keyId: '' } },
  })
})
