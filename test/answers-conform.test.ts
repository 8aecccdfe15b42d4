import { describe, expect, test } from '@jest/globals'
import { answersConformTo, type SeenAnswer } from './answers-conform.ts'
import { document } from './admin-api/answers-conform.ts'

const conforms = answersConformTo(document)

const data = {
  operator: {
    id: 'op-1',
    email: 'a@b.c',
    role: 'admin',
    platform: false,
    mustChangePassword: false,
  },
  account: { id: 'acc-1', name: 'A' },
  idleEndsAt: '2026-01-01T00:30:00.000Z',
  endsAt: '2026-01-01T12:00:00.000Z',
}
const envelope = { success: true, code: 200, message: 'OK', data }
const error = { success: false, code: 503, message: 'Later', error: 'SERVICE_UNAVAILABLE' }

function seen(changes: Partial<SeenAnswer> & { body?: object; header?: Record<string, string> }) {
  const { body = envelope, header = {}, ...others } = changes
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': 'r-1', ...header }
  return {
    method: 'GET',
    path: '/api/v1/session',
    status: 200,
    text: JSON.stringify(body),
    ...others,
    headers: new Headers(headers),
  }
}

test('a response as documented passes, for HEAD and with a query too', () => {
  conforms(seen({}))
  conforms(seen({ path: '/api/v1/session?a=b' }))
  conforms(seen({ method: 'HEAD', text: '' }))
  conforms(seen({ status: 503, body: error, header: { 'Retry-After': '1' } }))
})

describe('a response that differs from the document', () => {
  test.each([
    ['another status', seen({ status: 409 })],
    ['another shape', seen({ body: { ...envelope, data: { operator: {} } } })],
    ['one field too many', seen({ body: { ...envelope, more: 1 } })],
    ['another media type', seen({ header: { 'Content-Type': 'text/plain' } })],
    ['a missing header', seen({ status: 503, body: error })],
    [
      'a header of another shape',
      seen({ status: 503, body: error, header: { 'Retry-After': '0' } }),
    ],
    [
      'the identifier of another error',
      seen({ status: 503, body: { ...error, error: 'CONFLICT' }, header: { 'Retry-After': '1' } }),
    ],
    ['success where there is nothing', seen({ path: '/api/v1/nothing' })],
    ['success of another method', seen({ method: 'PUT' })],
  ])('a response with %s is rejected', (_, answer) => {
    expect(() => conforms(answer)).toThrow('not as documented')
  })
})
