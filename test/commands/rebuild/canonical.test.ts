import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { deviceStatus } from '../../../projector/device-status.ts'
import {
  canonicalRecord,
  canonicalStatus,
  UnorderedHash,
} from '../../../commands/rebuild/canonical.ts'
import { MEASUREMENTS } from '../../../schemas/report/report-fields.ts'
import { positionReported } from '../../samples.ts'

const origin = { partition: 3, offset: 7 }

test('the canonical form depends on everything except the offset', () => {
  const event = positionReported()
  const text = canonicalRecord({ ...event, origin })
  expect(canonicalRecord({ ...event, origin: { partition: 0, offset: 0 } })).toBe(text)
  const others = [
    { recordId: 'x' },
    { accountId: 'x' },
    { keyId: 'x' },
    { deviceId: 'x' },
    { latitude: event.latitude + 1e-13 },
    { longitude: 0 },
    { timestamp: event.timestamp + 1 },
    { timestampSource: 'server' },
    { receivedAt: event.receivedAt + 1 },
    ...MEASUREMENTS.map((name) => ({ [name]: 0 })),
  ] as const
  const texts = others.map((changes) => canonicalRecord({ ...event, ...changes, origin }))
  expect(new Set([text, ...texts]).size).toBe(others.length + 1)
})

test("a device's canonical status does not depend on how far its log was folded", () => {
  const status = deviceStatus(undefined, { origin, event: positionReported() })
  const text = canonicalStatus(status)
  expect(canonicalStatus({ ...status, applied: {} })).toBe(text)
  expect(canonicalStatus({ ...status, reportCount: 2 })).not.toBe(text)
  expect(canonicalStatus({ ...status, firstSeenAt: 0 })).not.toBe(text)
  expect(canonicalStatus({ ...status, lastSeenAt: 0 })).not.toBe(text)
  expect(canonicalStatus({ ...status, lastKeyId: 'x' })).not.toBe(text)
  const lastPosition = { ...status.lastPosition, speed: 1 }
  expect(canonicalStatus({ ...status, lastPosition })).not.toBe(text)
})

test('a hash depends on the number of occurrences, not on their order', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), fc.nat(), (texts, at) => {
      const hash = hashOf(texts)
      const turned = [...texts.slice(at % texts.length), ...texts.slice(0, at % texts.length)]
      expect(hashOf(turned.reverse())).toEqual(hash)
      expect(hashOf([...texts, texts[0] ?? ''])).not.toEqual(hash)
      expect(hashOf([...texts, ...texts]).hash).not.toBe(hash.hash)
    }),
  )
  expect(hashOf([])).toEqual({ count: 0, hash: '0'.repeat(64) })
})

function hashOf(texts: readonly string[]) {
  const hash = new UnorderedHash()
  for (const text of texts) hash.add(text)
  return { count: hash.count, hash: hash.hash }
}
