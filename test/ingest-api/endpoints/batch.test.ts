import { beforeEach, describe, expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { expectRefused } from '../expect-refused.ts'
import { ingestForAllTests, type Answer, type IngestHarness } from '../ingest-harness.ts'

const receivedAt = new Date(T0).toISOString()

let ingest: IngestHarness
let key: string
let logged: number

ingestForAllTests((given) => ({ ingest, key } = given))

beforeEach(async () => {
  logged = (await ingest.logged()).length
})

type Result = { index: number; recordId?: string; error?: string; message?: string }
type Batch = { accepted: number; rejected: number; results: Result[] }

const report = (number: number, more: object = {}) => ({
  deviceId: `van-${number}`,
  latitude: 54.3,
  longitude: number / 10,
  ...more,
})

function data(answer: Answer): Batch {
  expect(answer.status).toBe(200)
  return answer.body['data'] as Batch
}

describe('batches', () => {
  test('a batch of valid reports gets a recordId for each, in order', async () => {
    const answer = await ingest.batch({ reports: [report(1), report(2), report(1)] }, { key })
    expect(answer.body).toMatchObject({ success: true, code: 200 })
    const { accepted, rejected, results } = data(answer)
    expect({ accepted, rejected }).toEqual({ accepted: 3, rejected: 0 })
    const events = (await ingest.logged()).slice(logged)
    expect(results).toEqual(events.map(({ recordId }, index) => ({ index, recordId, receivedAt })))
    expect(events.map(({ deviceId }) => deviceId)).toEqual(['van-1', 'van-2', 'van-1'])
  })

  test('a batch with invalid reports stores the valid ones and names the faults of each invalid one', async () => {
    const reports = [report(1, { latitude: 91 }), report(2), 7, null, report(3, { speed: -1 })]
    const { accepted, rejected, results } = data(await ingest.batch({ reports }, { key }))
    expect({ accepted, rejected }).toEqual({ accepted: 1, rejected: 4 })
    expect(results.map(({ error }) => error)).toEqual([
      'INVALID_PARAMS',
      undefined,
      'INVALID_PARAMS',
      'INVALID_PARAMS',
      'INVALID_PARAMS',
    ])
    expect(results[0]).toEqual({
      index: 0,
      error: 'INVALID_PARAMS',
      message: expect.stringContaining('latitude') as unknown,
    })
    expect((await ingest.logged()).slice(logged).map(({ deviceId }) => deviceId)).toEqual(['van-2'])
  })

  test('a batch without any valid report still gets a 200', async () => {
    const { accepted, rejected } = data(await ingest.batch({ reports: [{}, []] }, { key }))
    expect({ accepted, rejected }).toEqual({ accepted: 0, rejected: 2 })
  })

  test('a batch of 1000 reports is written together, and one of 1001 is rejected', async () => {
    const reports = Array.from({ length: 1000 }, (_, number) => report(number))
    expect(data(await ingest.batch({ reports }, { key })).accepted).toBe(1000)
    expect((await ingest.logged()).length).toBe(logged + 1000)
    const answer = await ingest.batch({ reports: [...reports, report(1)] }, { key })
    expectRefused(answer, 400, 'INVALID_PARAMS')
    expect(answer.body['message']).toContain('1 to 1000')
  })

  test('a resent batch keeps its recordIds, and an Idempotency-Key identifies each report by its index', async () => {
    const send = async (reports: object[], headers: Record<string, string>) => {
      const { results } = data(await ingest.batch({ reports }, { key, headers }))
      return results.map(({ recordId }) => recordId)
    }
    const twins = [report(1), report(1)]
    const header = { 'Idempotency-Key': 'trip' }
    const first = await send(twins, header)
    expect(new Set(first).size).toBe(2)
    expect(await send(twins, header)).toEqual(first)
    expect(await send([report(1)], header)).toEqual(first.slice(0, 1))
    expect(await send(twins, { 'Idempotency-Key': 'other' })).not.toEqual(first)
    const timed = [report(1, { timestamp: '2025-12-31T10:00:00Z' })]
    expect(await send(timed, {})).toEqual(await send(timed, {}))
    // No header of a single report can equal that of a report in a batch.
    const single = await ingest.submit(report(1), { key, headers: { 'Idempotency-Key': 'trip0' } })
    expect(first).not.toContain((single.body['data'] as Result).recordId)
  })

  test('a batch with an invalid Idempotency-Key is rejected as a whole', async () => {
    const before = (await ingest.logged()).length
    for (const bad of ['a b', 'é', 'x'.repeat(256)]) {
      const headers = { 'Idempotency-Key': bad }
      const answer = await ingest.batch({ reports: [report(1), {}] }, { key, headers })
      expectRefused(answer, 400, 'INVALID_PARAMS')
      expect(answer.body['details']).toMatchObject([{ field: 'Idempotency-Key' }])
    }
    expect(await ingest.logged()).toHaveLength(before)
  })
})

describe('batches that are rejected as a whole', () => {
  test.each([
    ['that is not JSON', '{"reports":['],
    ['that is a list', [report(1)]],
    ['that is one report', report(1)],
    ['whose reports are not a list', { reports: { 0: report(1) } }],
    ['without reports', { reports: [] }],
    ['whose reports are inherited', '{"__proto__":{"reports":[{}]}}'],
    ['that is empty', ''],
    ['that is null', 'null'],
  ])('a batch %s is rejected as a whole', async (_what, body) => {
    expectRefused(await ingest.batch(body, { key }), 400, 'INVALID_PARAMS')
    expect((await ingest.logged()).length).toBe(logged)
  })

  test('a batch of more than 1 MiB is rejected as a whole, and one of 1 MiB is accepted', async () => {
    const padded = (bytes: number) => {
      const text = JSON.stringify({ reports: [report(1)], note: '' })
      return text.replace('""', `"${'n'.repeat(bytes - text.length)}"`)
    }
    expect(data(await ingest.batch(padded(1024 * 1024), { key })).accepted).toBe(1)
    const answer = await ingest.batch(padded(1024 * 1024 + 1), { key })
    expectRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
  })

  test('a batch without a valid key is rejected as a whole, with any content', async () => {
    for (const body of [{ reports: [report(1)] }, 'no JSON']) {
      expectRefused(await ingest.batch(body), 401, 'UNAUTHORIZED')
    }
  })
})
