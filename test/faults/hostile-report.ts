import { expect } from '@jest/globals'
import fc from 'fast-check'
import type { Pool } from 'undici'
import { packedBody, packing } from './packed.ts'

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, '', -0, 1e308, 90.1, -181, 'x'.repeat(129), '\ud800', '..', [[]], {}),
  fc.string({ unit: 'binary', maxLength: 140 }),
)
const field = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: odd })
const report = fc.record(
  {
    deviceId: field(fc.constantFrom('tug', 'barge', '車-7')),
    latitude: field(fc.double({ min: -90, max: 90, noNaN: true })),
    longitude: field(fc.double({ min: -180, max: 180, noNaN: true })),
    timestamp: field(fc.constantFrom('2026-01-01T00:00:00Z', '20260101T000000Z', '2026-02-30')),
    speed: odd,
    ['__proto__']: odd,
    other: odd,
  },
  { requiredKeys: ['deviceId', 'latitude', 'longitude'] },
)
const reports = fc.oneof(fc.array(fc.oneof(report, odd), { maxLength: 30 }), odd)
const json = fc
  .oneof(
    report.map((value) => ({ path: 'submit', value: value })),
    reports.map((value) => ({ path: 'batch', value: { reports: value } })),
    odd.map((value) => ({ path: 'batch', value })),
  )
  .map(({ path, value }) => ({ path, text: JSON.stringify(value) }))
const text = fc.oneof(
  { weight: 6, arbitrary: json },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['['.repeat(16_000), '{"reports":['.repeat(1_300), '{"reports":[[[[[1e999]]]]]}'].flatMap(
        (nested) => ['submit', 'batch'].map((path) => ({ path, text: nested })),
      ),
      { path: 'batch', text: `{"reports":[${'0,'.repeat(2_000)}0]}` },
      { path: 'batch', text: `{"reports":[${'['.repeat(9_000)}${']'.repeat(9_000)}]}` },
      { path: 'submit', text: `{"deviceId":"${'é'.repeat(9_000)}"}` },
    ),
  },
)
/** Bodies for the native paths, in any encoding, damaged or not. */
export const hostileReport = fc
  .record({
    text,
    packing,
    type: fc.constantFrom(
      ...Array<string>(8).fill('application/json'),
      'text/plain',
      'application/x+json;charset=utf-16',
    ),
    idempotencyKey: fc.option(fc.constantFrom('trip', 'a b', 'x'.repeat(256)), { freq: 4 }),
    key: fc.constantFrom('good', 'good', 'good', 'good', 'none', 'wrong'),
  })
  .map(({ text: { path, text: written }, packing: how, ...rest }) => {
    return { path, coding: how.coding, body: packedBody(Buffer.from(written), how), ...rest }
  })
type Report = typeof hostileReport extends fc.Arbitrary<infer R> ? R : never

/** The response is 2xx or 4xx in the envelope, or 503 with Retry-After. */
export async function sendReport(
  pool: Pool,
  key: string,
  { path, coding, body, type, idempotencyKey, key: kind }: Report,
): Promise<number> {
  const {
    statusCode,
    headers,
    body: answer,
  } = await pool.request({
    method: 'POST',
    path: `/api/v1/gps/${path}`,
    headers: {
      'content-type': type,
      ...(coding !== '' && { 'content-encoding': coding }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      ...(kind !== 'none' && { authorization: `Bearer ${kind === 'good' ? key : 'gps_wrong'}` }),
    },
    body,
  })
  const told = (await answer.json()) as { success?: unknown; code?: unknown; error?: unknown }
  const isBusy = statusCode === 503 && headers['retry-after'] !== undefined
  expect(isBusy || (statusCode >= 200 && statusCode < 500)).toBe(true)
  expect(told).toMatchObject({ success: statusCode < 300, code: statusCode })
  expect(headers['x-request-id']).toBeDefined()
  return statusCode
}
