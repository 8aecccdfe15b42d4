import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { recordIdFor, ulid } from '../../../schemas/events/record-id.ts'
import { anyText } from '../../any-text.ts'
import { T0 } from '../../samples.ts'

const report = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }
const context = { accountId: 'acc-1', idempotencyKey: undefined, receivedAt: T0 }

describe('ids of records', () => {
  test('a record’s id is a ULID with the report’s timestamp', () => {
    const id = recordIdFor({ ...report, timestamp: T0 }, context)
    expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    expect(id.slice(0, 10)).toBe(ulid(T0, new Uint8Array(10)).slice(0, 10))
  })

  test('a record’s id is stable for a given report across versions', () => {
    const full = { ...report, timestamp: T0, accuracy: 5, battery: 0.5 }
    expect(recordIdFor(full, context)).toBe('01KDVDNA00Z6JGGE5XXD5XW7P3')
    const attributes = { alarm: 'sos', odometer: 12.5 }
    expect(recordIdFor({ ...full, attributes }, context)).toBe('01KDVDNA00AH2CB43A5H07MATG')
    expect(recordIdFor(report, { ...context, idempotencyKey: 'trip-7' })).toBe(
      '72A1931J8XRJY7P1TYN7EX63SE',
    )
  })

  test('a record’s id is derived from the JSON list of all present fields', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    const measured = { accuracy: number, altitude: number, speed: number, heading: number }
    const attributes = fc.constantFrom({ a: 1 }, { a: '1', b: true })
    const some = fc.record({ ...measured, battery: number, attributes }, { requiredKeys: [] })
    const text = anyText()
    const place = fc.record({ deviceId: text, latitude: number, longitude: number })
    const key = fc.option(text, { nil: undefined })
    fc.assert(
      fc.property(
        place,
        some,
        text,
        key,
        ({ deviceId, ...at }, more, accountId, idempotencyKey) => {
          const named: unknown[][] = [...Object.entries(at), ['timestamp', T0]]
          for (const name of Object.keys(measured).concat(
            'battery',
            'attributes',
          ) as (keyof typeof more)[]) {
            if (more[name] !== undefined) named.push([name, more[name]])
          }
          const header = idempotencyKey === undefined ? [] : ['idempotencyKey', idempotencyKey]
          const list = ['account', accountId, 'deviceId', deviceId, ...header, ...named.flat()]
          const digest = createHash('sha256').update(JSON.stringify(list)).digest()
          const report = { deviceId, ...at, timestamp: T0, ...more }
          expect(recordIdFor(report, { ...context, accountId, idempotencyKey })).toBe(
            ulid(T0, digest),
          )
        },
      ),
    )
  })

  test('a record’s id does not depend on the time of receipt if the report has a timestamp', () => {
    const timed = { ...report, timestamp: T0 }
    const later = { ...context, receivedAt: T0 + 86_400_000 }
    expect(recordIdFor(timed, later)).toBe(recordIdFor(timed, context))
  })

  test('a record’s id is the same for the same Idempotency-Key, even without a timestamp', () => {
    const again = { ...context, idempotencyKey: 'k', receivedAt: T0 + 5 }
    const first = { ...context, idempotencyKey: 'k' }
    expect(recordIdFor(report, again)).toBe(recordIdFor(report, first))
  })

  test('a record’s id is random, with the time of receipt, if nothing identifies the report', () => {
    const ids = Array.from({ length: 50 }, () => recordIdFor(report, context))
    expect(new Set(ids).size).toBe(50)
    expect(ids[0]?.slice(0, 10)).toBe(ulid(T0, new Uint8Array(10)).slice(0, 10))
  })

  test('a record’s id differs as soon as account, header or any field differs', () => {
    const timed = { ...report, timestamp: T0 }
    const ids = [
      recordIdFor(timed, context),
      recordIdFor(timed, { ...context, accountId: 'acc-2' }),
      recordIdFor(timed, { ...context, idempotencyKey: 'k' }),
      recordIdFor(timed, { ...context, idempotencyKey: 'l' }),
      recordIdFor({ ...timed, deviceId: 'tracker-2' }, context),
      recordIdFor({ ...timed, latitude: 46.050000000000004 }, context),
      recordIdFor({ ...timed, longitude: 14.500000000000002 }, context),
      recordIdFor({ ...timed, timestamp: T0 + 1 }, context),
      recordIdFor({ ...timed, accuracy: 0 }, context),
      recordIdFor({ ...timed, altitude: 0 }, context),
      recordIdFor({ ...timed, speed: 0 }, context),
      recordIdFor({ ...timed, heading: 0 }, context),
      recordIdFor({ ...timed, battery: 0 }, context),
      recordIdFor({ ...timed, attributes: { battery: 0 } }, context),
      recordIdFor({ ...timed, attributes: { battery: '0' } }, context),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a record’s id keeps the texts of account, device and header apart', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\\', '/'), maxLength: 4 })
    const parts = fc.record({ accountId: text, deviceId: text, idempotencyKey: text })
    const id = ({ accountId, deviceId, idempotencyKey }: Record<string, string>) =>
      recordIdFor(
        { ...report, deviceId: deviceId ?? '', timestamp: T0 },
        { accountId: accountId ?? '', idempotencyKey, receivedAt: T0 },
      )
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(id(a) === id(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: 1_000 },
    )
  })
})

test('ULIDs sort by their time', () => {
  const bytes = new Uint8Array(10).fill(255)
  expect(ulid(0, new Uint8Array(10))).toBe('0'.repeat(26))
  expect(ulid(2 ** 48 - 1, bytes)).toBe('7' + 'Z'.repeat(25))
  expect(ulid(T0, bytes) < ulid(T0 + 1, new Uint8Array(10))).toBe(true)
})
