import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { UndecodableEventError } from '../../../schemas/events/event-fields.ts'
import {
  decodePositionReported,
  encodePositionReported,
} from '../../../schemas/events/position-reported.ts'
import { positionReported, T0 } from '../../samples.ts'
import { anyIdentifier, anyText } from '../../any-text.ts'

describe('PositionReported as JSON', () => {
  test('an event as JSON has ISO 8601 times and omits absent measurements', () => {
    const event = positionReported({ timestamp: T0, receivedAt: T0 + 1, speed: 2.5 })
    const written: unknown = JSON.parse(encodePositionReported(event))
    expect(written).toEqual({
      ...event,
      timestamp: '2026-01-01T00:00:00.000Z',
      receivedAt: '2026-01-01T00:00:00.001Z',
    })
  })

  test('an event as JSON is read back bit for bit', () => {
    const events = fc.record({
      latitude: fc.double({ min: -90, max: 90, noNaN: true }).map((x) => x || 0),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }).map((x) => x || 0),
      timestamp: fc.integer({ min: T0, max: T0 * 2 }),
      accuracy: fc.double({ min: 0, max: 1e300, noNaN: true }),
      deviceId: anyIdentifier,
    })
    fc.assert(
      fc.property(events, (changes) => {
        const event = positionReported(changes)
        expect(decodePositionReported(encodePositionReported(event))).toStrictEqual(event)
      }),
    )
  })

  test('an event’s JSON equals the output of JSON.stringify', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    const events = fc.record(
      {
        accountId: fc.string(),
        keyId: fc.string(),
        deviceId: anyText(),
        latitude: number,
        longitude: number,
        accuracy: number,
        altitude: number,
        speed: number,
        heading: number,
        battery: number,
        attributes: fc.dictionary(fc.string(), fc.oneof(fc.string(), number, fc.boolean()), {
          noNullPrototype: true,
        }),
        imported: fc.constant(true as const),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(events, (changes) => {
        const event = positionReported(changes)
        const written = encodePositionReported(event)
        expect(JSON.parse(written)).toStrictEqual(
          JSON.parse(
            JSON.stringify({
              ...event,
              timestamp: new Date(event.timestamp),
              receivedAt: new Date(event.receivedAt),
            }),
          ),
        )
        expect(JSON.stringify(JSON.parse(written))).toBe(written)
      }),
    )
  })

  test('an event as JSON is read with attributes sorted by name, and its imported flag', () => {
    const attributes = { odometer: 12.5, alarm: 'sos' }
    const event = positionReported({ attributes, imported: true })
    const read = decodePositionReported(encodePositionReported(event))
    expect(read).toStrictEqual(event)
    expect(Object.keys(read.attributes ?? {})).toEqual(['alarm', 'odometer'])
    const absent = changed({ attributes: null, imported: null })
    expect(decodePositionReported(absent)).not.toHaveProperty('attributes')
    expect(decodePositionReported(absent)).not.toHaveProperty('imported')
  })

  test('an event as JSON is read without the fields of a newer writer', () => {
    const event = positionReported()
    const newer = JSON.stringify({ ...JSON.parse(encodePositionReported(event)), satellites: 9 })
    expect(decodePositionReported(newer)).toStrictEqual(event)
  })

  test.each([
    ['not JSON', '{"recordId"'],
    ['a JSON list', '[]'],
    ['null', 'null'],
    ['empty', ''],
    ['without a recordId', without('recordId')],
    ['without a latitude', without('latitude')],
    ['with a latitude beyond the pole', changed({ latitude: 90.1 })],
    ['with a time that is a number', changed({ receivedAt: 5 })],
    ['with a time that only looks like one', changed({ receivedAt: '5' })],
    ['with an unknown source of its time', changed({ timestampSource: 'gps' })],
    ['with an accuracy that is a text', changed({ accuracy: '5' })],
    ['with a recordId that is not a ULID', changed({ recordId: 'record-1' })],
    ['with a lone surrogate in its deviceId', changed({ deviceId: '\ud800' })],
    ['with a lone surrogate in its keyId', changed({ keyId: 'a\udfff' })],
    ['with a control character in its deviceId', changed({ deviceId: 'a\u0000b' })],
    ['with a deviceId that is too long', changed({ deviceId: 'x'.repeat(129) })],
    ['with a slash in its accountId', changed({ accountId: 'acc/1' })],
    ['with attributes that are nested', changed({ attributes: { deep: {} } })],
    ['with an attribute called __proto__', changed({ attributes: JSON.parse('{"__proto__":1}') })],
    ['of after the year 9999', changed({ timestamp: '9999-12-31T23:59:59-12:00' })],
    ['of before 1970', changed({ receivedAt: '1969-12-31T23:59:59Z' })],
  ])('an event as JSON is rejected with a reason if the value is %s', (_what, json) => {
    expect(() => decodePositionReported(json)).toThrow(UndecodableEventError)
  })
})

function changed(changes: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(encodePositionReported(positionReported())), ...changes })
}

function without(name: string): string {
  return changed({ [name]: undefined })
}
