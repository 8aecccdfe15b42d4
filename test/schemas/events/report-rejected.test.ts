import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { UndecodableEventError } from '../../../schemas/events/event-fields.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REJECTED_BODY_BYTES,
  REJECTION_ERRORS,
} from '../../../schemas/events/report-rejected.ts'
import { reportRejected, T0 } from '../../samples.ts'
import { anyText } from '../../any-text.ts'

describe('ReportRejected as JSON', () => {
  test('has its time in ISO 8601 and omits absent fields', () => {
    const event = reportRejected({ receivedAt: T0 + 1 })
    const written: unknown = JSON.parse(encodeReportRejected(event))
    expect(written).toEqual({ ...event, receivedAt: '2026-01-01T00:00:00.001Z' })
  })

  test('a rejection of any content is read back unchanged', () => {
    const sent = anyText({ maxLength: 60 })
    const events = fc.record(
      {
        error: fc.constantFrom(...REJECTION_ERRORS),
        message: anyText({ minLength: 1 }),
        deviceId: sent,
        body: sent,
        count: fc.integer({ min: 1, max: 1e9 }),
      },
      { requiredKeys: ['error', 'message'] },
    )
    fc.assert(
      fc.property(events, (changes) => {
        const event = reportRejected(changes)
        expect(decodeReportRejected(encodeReportRejected(event))).toStrictEqual(event)
      }),
    )
  })

  test('is read without the fields of a newer writer, and null means absent', () => {
    const event = reportRejected()
    const newer = changed({ address: '192.0.2.1', deviceId: null, body: null }, event)
    expect(decodeReportRejected(newer)).toStrictEqual(event)
  })

  test.each([
    ['not JSON', '{"rejectionId"'],
    ['a JSON list', '[]'],
    ['without a rejectionId', changed({ rejectionId: undefined })],
    ['with a rejectionId that is not a ULID', changed({ rejectionId: '1' })],
    ['without an account', changed({ accountId: '' })],
    ['without a key', changed({ keyId: undefined })],
    ['with a time that is a number', changed({ receivedAt: T0 })],
    ['with an error of ours', changed({ error: 'SERVER_ERROR' })],
    ['with the name of a property for an error', changed({ error: 'length' })],
    ['with a message that is not a text', changed({ message: { $ne: 1 } })],
    ['with a device that is not a text', changed({ deviceId: { $gt: '' } })],
    ['with a device that is too long', changed({ deviceId: 'x'.repeat(129) })],
    ['with a body that is not a text', changed({ body: ['x'] })],
    ['with too many bytes of body', changed({ body: '€'.repeat(REJECTED_BODY_BYTES / 3 + 1) })],
    ['that counts nothing', changed({ count: 0 })],
    ['that counts a part', changed({ count: 1.5 })],
    ['that counts in words', changed({ count: '2' })],
  ])('is rejected with a reason if the value is %s', (_what, json) => {
    expect(() => decodeReportRejected(json)).toThrow(UndecodableEventError)
  })
})

function changed(changes: Record<string, unknown>, event = reportRejected()): string {
  return JSON.stringify({ ...(JSON.parse(encodeReportRejected(event)) as object), ...changes })
}
