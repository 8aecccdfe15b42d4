import { expect } from '@jest/globals'
import fc from 'fast-check'
import type { Pool } from 'undici'
import { APP_PATHS, appRouteOf } from '../../ingest-api/apps/app-routes.ts'
import {
  anyBody,
  anyHeaders,
  anyQuery,
  PHONETRACK_LOGGERS,
} from '../ingest-api/apps/any-request.ts'
import { packedBody, packing } from './packed.ts'

/** A request that no app sends: larger than any app's limit, and nested as deeply as possible. */
const monstrous = fc
  .constantFrom(
    'x'.repeat(70_000),
    `{"locations":[${'0,'.repeat(100_000)}0]}`,
    `{"locations":[${'{},'.repeat(5_000)}{}]}`,
    `{"locations":[${'['.repeat(9_000)}${']'.repeat(9_000)}]}`,
    `{"object":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    `{"points":[${'[],'.repeat(5_000)}[1,2,3]]}`,
    `a=1${'&a=1'.repeat(4_000)}`,
    `{"_type":"location","image":"${'A'.repeat(300_000)}","lat":1,"lon":1,"tst":1767225600}`,
  )
  .map((text) => Buffer.from(text))

/** Requests to every app path, in any encoding, damaged or not. */
export const hostileAppRequest = fc
  .record({
    path: fc.constantFrom(...APP_PATHS),
    logger: fc.constantFrom(...PHONETRACK_LOGGERS),
    device: fc.constantFrom('van', '%ff', '%', '..', 'x'.repeat(300)),
    body: fc.oneof({ weight: 30, arbitrary: anyBody }, { weight: 1, arbitrary: monstrous }),
    packing,
    query: anyQuery,
    headers: anyHeaders,
    method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'HEAD'),
    key: fc.constantFrom('good', 'good', 'good', 'good', 'none', 'wrong'),
  })
  .map(({ body: written, packing: how, headers: others, ...rest }) => {
    const isSaid = how.coding !== '' && others['content-encoding'] === undefined
    const headers = { ...others, ...(isSaid && { 'content-encoding': how.coding }) }
    const body = packedBody(written, how)
    // The service stops reading bodies of requests without a key, and the response may be lost with
    // the connection.
    return { ...rest, headers, body: rest.key === 'good' ? body : body.subarray(0, 16 * 1024) }
  })
type AppRequest = typeof hostileAppRequest extends fc.Arbitrary<infer R> ? R : never

/**
 * The response is one that the app treats as success. Without a valid key it is 401 if the app
 * keeps its data after a 401, or else 503 with Retry-After.
 */
export async function sendAsApp(
  pool: Pool,
  key: string,
  { path: { path, methods }, key: kind, body, query, headers, ...request }: AppRequest,
): Promise<number> {
  const isTaken = request.method === 'HEAD' || methods.some((one) => one === request.method)
  const method = isTaken ? request.method : 'POST'
  const url = path
    .replace(':key', kind === 'good' ? key : 'x')
    .replace(':app', request.logger)
    .replace(':device', request.device)
  const answer = await pool.request({
    method,
    path: `${url}?${query.replace('#', '')}`,
    headers: {
      ...headers,
      ...(kind !== 'none' && { authorization: `Bearer ${kind === 'good' ? key : 'gps_wrong'}` }),
    },
    ...(method === 'POST' && { body }),
  })
  const { statusCode } = answer
  const text = await answer.body.text()
  const isServed = kind === 'good' || method === 'HEAD'
  const never4xx = appRouteOf(url)?.app.never4xx === true
  const allowed = isServed ? [200, 201] : never4xx ? [503] : [401, 503]
  expect(allowed).toContain(statusCode)
  if (statusCode === 503) expect(answer.headers['retry-after']).toMatch(/^\d+$/)
  if (text !== '') JSON.parse(text)
  expect(answer.headers['x-request-id']).toBeDefined()
  return statusCode
}
