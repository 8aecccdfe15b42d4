import { describe, expect, test } from '@jest/globals'
import { recordMessage } from '../../event-log/kafka/topic.ts'
import { REJECTIONS } from '../../event-log/topic.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REJECTION_ERRORS,
  type ReportRejected,
} from '../../schemas/events/report-rejected.ts'
import { reportRejected } from '../samples.ts'
import { checkerOf, document, expectEnvelope } from './asyncapi-document.ts'

const { schemas, messages } = document.components
const schema = schemas.reportRejected
const everyField: Required<ReportRejected> = {
  ...reportRejected(),
  deviceId: 'tracker-1',
  body: '{"deviceId":"tracker-1"}',
}

describe('a rejected report in the AsyncAPI document', () => {
  test('the documented rejection matches the written message: key, headers, value', () => {
    for (const event of [everyField, reportRejected({ deviceId: '', body: '', count: 99 })]) {
      const message = recordMessage(REJECTIONS.toRecord(event))
      expectEnvelope(message, messages.reportRejected)
      expect(checkerOf(schema)(JSON.parse(String(message.value)))).toEqual([])
    }
  })

  test('a rejection has, and requires, the same fields as in the code', () => {
    const names = Object.keys(schema.properties ?? {})
    expect(names).toEqual(Object.keys(decodeReportRejected(encodeReportRejected(everyField))))
    expect(Object.keys(fields())).toEqual(names)
    expect(schema.required).toEqual(names.filter((name) => !isReadable({ [name]: undefined })))
  })

  test('a rejection has the errors and the limits of the code', () => {
    expect(schemas.rejectionError).toMatchObject({ enum: REJECTION_ERRORS })
    for (const [name, within, beyond] of [
      ['deviceId', 'x'.repeat(128), 'x'.repeat(129)],
      ['count', 1, 0],
      ['count', 2, 1.5],
      ['message', '.', ''],
      ['rejectionId', everyField.rejectionId, everyField.rejectionId.toLowerCase()],
    ] as const) {
      for (const value of [within, beyond]) {
        const isDescribed = checkerOf(schema)({ ...fields(), [name]: value }).length === 0
        expect([name, value, isDescribed]).toEqual([name, value, value === within])
        expect([name, value, isReadable({ [name]: value })]).toEqual([
          name,
          value,
          value === within,
        ])
      }
    }
  })

  test('the code can read the example of a rejection', () => {
    const [example] = messages.reportRejected.examples
    const event = decodeReportRejected(JSON.stringify(example!.payload))
    expect(JSON.parse(encodeReportRejected(event))).toEqual(example!.payload)
    expect(checkerOf(schemas.rejectionHeaders)(example!.headers)).toEqual([])
  })
})

/** The fields of an event in JSON. */
function fields(): Record<string, unknown> {
  return JSON.parse(encodeReportRejected(everyField)) as Record<string, unknown>
}

function isReadable(changes: Record<string, unknown>): boolean {
  try {
    decodeReportRejected(JSON.stringify({ ...fields(), ...changes }))
    return true
  } catch {
    return false
  }
}
