import { expect } from '@jest/globals'
import type { Answer } from './ingest-harness.ts'

/** An error response in the envelope, as every error response has to be. */
export function expectRefused(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, ...answer.body }).toMatchObject({
    status,
    success: false,
    code: status,
    error,
    message: expect.stringMatching(/./) as unknown,
  })
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]+$/)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
}
