import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { fakeTimers } from '../../fake-timers.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'

const report = { deviceId: 'tug-1', latitude: 54.3, longitude: 10.1 }

let harness: IngestHarness

beforeEach(async () => {
  fakeTimers('performance')
  harness = await startIngest({ rateLimits: { key: { points: 3, seconds: 1 } } })
})

afterEach(async () => {
  jest.useRealTimers()
  await harness.close()
})

/** Sends this many reports one after another. */
async function send(count: number, key: string): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let sent = 0; sent < count; sent += 1) answers.push(await harness.submit(report, { key }))
  return answers
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

test('a key may report as much as the service allows, then is asked to wait', async () => {
  const { secret: key } = await harness.createKey()
  const answers = await send(4, key)
  expect(statuses(answers)).toEqual([200, 200, 200, 429])
  const last = answers.at(-1)
  expect(last?.body).toMatchObject({ success: false, code: 429, error: 'RATE_LIMITED' })
  expect(last?.body['message']).toContain('3 positions in 1 s')
  expect(last?.headers.get('retry-after')).toBe('1')
  expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual([
    '"key";r=2;t=1',
    '"key";r=1;t=1',
    '"key";r=0;t=1',
    '"key";r=0;t=1',
  ])
  expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"key";q=3;w=1')
  jest.advanceTimersByTime(1_000)
  expect(statuses(await send(1, key))).toEqual([200])
})

test('a key’s own limit applies to it alone, regardless of other keys', async () => {
  const { secret: narrow } = await harness.createKey({ rateLimit: 2 })
  const { secret: wide } = await harness.createKey({ rateLimit: 100 })
  expect(statuses(await send(4, narrow))).toEqual([200, 200, 429, 429])
  const answers = await send(10, wide)
  expect(new Set(statuses(answers))).toEqual(new Set([200]))
  expect(answers.at(-1)?.headers.get('ratelimit')).toMatch(/^"key";r=90;t=60$/)
  expect(answers.at(-1)?.headers.get('ratelimit-policy')).toBe('"key";q=100;w=60')
})

test('a report refused for the limit is no event, and its body is not looked at', async () => {
  const { id, secret: key } = await harness.createKey({ rateLimit: 1 })
  await send(1, key)
  const refused = await harness.submit('no JSON', { key })
  expect(refused.status).toBe(429)
  expect(refused.body['message']).toContain('may report 1 position in 60 s')
  expect((await harness.logged()).map(({ keyId }) => keyId)).toEqual([id])
})

test('a changed limit is in force as soon as the key is looked up again', async () => {
  const { id, secret: key } = await harness.createKey({ rateLimit: 1 })
  expect(statuses(await send(2, key))).toEqual([200, 429])
  await harness.store.changeKey({ accountId: 'acc-1', keyId: id, rateLimit: 50 })
  harness.clock.time += 5_000
  expect(statuses(await send(2, key))).toEqual([200, 200])
})
