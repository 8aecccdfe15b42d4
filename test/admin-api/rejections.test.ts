import { beforeAll, expect, test } from '@jest/globals'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import { bearer, startAdmin, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let rejections: ReportRejected[]

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const { time } = harness.clock
  rejections = Array.from({ length: 12 }, (_, index): ReportRejected => {
    const counted = index === 11
    return {
      rejectionId: `01KDVN9C00REJECTED000000${String(index).padStart(2, '0')}`,
      accountId: 'acc-1',
      keyId: index % 3 === 0 ? 'key-a' : 'key-b',
      receivedAt: time - 60_000 + index * 1000,
      error: 'INVALID_PARAMS',
      message: 'latitude must be a number from -90 to 90',
      ...(!counted && {
        deviceId: index % 2 === 0 ? 'tug' : '<b>\u0001',
        body: '{"deviceId":"tug","latitude":"<script>"}',
      }),
      count: counted ? 731 : 1,
    }
  })
  const [first] = rejections
  if (first === undefined) throw new Error('no sample')
  const foreign = { ...first, rejectionId: '01KDVN9C00REJECTED00000099', accountId: 'acc-2' }
  await harness.store.saveRejections([...rejections, foreign])
})

async function find(query: string) {
  const answer = await harness.api('GET', `/rejections?${query}`, { headers })
  const { items = [], nextCursor } = answer.body.data ?? {}
  return { ...answer, items, nextCursor, ids: items.map(({ rejectionId }) => rejectionId) }
}

function newestFirst(keeps: (rejection: ReportRejected) => boolean = () => true): string[] {
  return rejections
    .filter(keeps)
    .map(({ rejectionId }) => rejectionId)
    .reverse()
}

test('rejected reports of the account are listed newest first, as they were rejected', async () => {
  const { items, nextCursor } = await find('')
  expect(items).toEqual(
    [...rejections].reverse().map(({ accountId: _, receivedAt, ...rest }) => ({
      ...rest,
      receivedAt: new Date(receivedAt).toISOString(),
    })),
  )
  expect(nextCursor).toBeNull()
  expect(items[0]).toMatchObject({ count: 731 })
  expect(items[0]).not.toHaveProperty('deviceId')
  expect(items[0]).not.toHaveProperty('body')
})

test('rejected reports are filtered by key, device, or both', async () => {
  const ofKey = (keyId: string) => newestFirst((rejection) => rejection.keyId === keyId)
  expect((await find('keyId=key-a')).ids).toEqual(ofKey('key-a'))
  expect((await find('deviceId=tug')).ids).toEqual(
    newestFirst(({ deviceId }) => deviceId === 'tug'),
  )
  expect((await find('deviceId=%3Cb%3E%01')).ids).toEqual(
    newestFirst(({ deviceId }) => deviceId === '<b>\u0001'),
  )
  expect((await find('deviceId=tug&keyId=key-b')).ids).toEqual(
    newestFirst(({ deviceId, keyId }) => deviceId === 'tug' && keyId === 'key-b'),
  )
  for (const query of [
    'keyId=key-c',
    'deviceId=TUG',
    'deviceId=tug%00',
    'keyId=key-a%00',
    'deviceId=%00',
    'keyId=%25',
  ]) {
    expect((await find(query)).ids).toEqual([])
  }
})

test('rejected reports are paged, each once; a cursor is valid only with its filter', async () => {
  const seen = await harness.allPages('/rejections?keyId=key-b&limit=3', { headers })
  const ids = seen.map(({ rejectionId }) => rejectionId)
  expect(ids).toEqual(newestFirst(({ keyId }) => keyId === 'key-b'))
  const cursor = `cursor=${(await find('keyId=key-b&limit=3')).nextCursor ?? ''}`
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  const path = `/rejections?keyId=key-b&${cursor}`
  const refused = [
    await find(cursor),
    await find(`keyId=key-a&${cursor}`),
    await find(`keyId=key-b&deviceId=tug&${cursor}`),
    await harness.api('GET', path, { headers: bearer(secret) }),
  ]
  for (const { status, body } of refused) {
    expect(status).toBe(400)
    expect(body.details?.[0]?.field).toBe('cursor')
  }
})

test('rejected reports are filtered by error and time', async () => {
  const from = new Date(rejections[3]?.receivedAt ?? 0).toISOString()
  const to = new Date(rejections[6]?.receivedAt ?? 0).toISOString()
  const { ids } = await find(`error=INVALID_PARAMS&from=${from}&to=${to}`)
  expect(ids).toEqual(
    rejections
      .slice(3, 6)
      .map(({ rejectionId }) => rejectionId)
      .reverse(),
  )
  expect((await find('error=FORBIDDEN')).ids).toEqual([])
})

test('rejected reports are counted by error, key and device, the most frequent first', async () => {
  const answer = await harness.api('GET', '/rejections/summary', { headers })
  expect(answer.body.data).toEqual({
    total: 11 + 731,
    byError: [{ error: 'INVALID_PARAMS', count: 742 }],
    byKey: [
      { keyId: 'key-b', count: 738 },
      { keyId: 'key-a', count: 4 },
    ],
    byDevice: [
      { deviceId: 'tug', count: 6 },
      { deviceId: '<b>\u0001', count: 5 },
    ],
  })
  const one = await harness.api('GET', '/rejections/summary?deviceId=tug&keyId=key-a', {
    headers,
  })
  expect(one.body.data).toMatchObject({ total: 2, byKey: [{ keyId: 'key-a', count: 2 }] })
  const none = await harness.api('GET', '/rejections/summary?error=FORBIDDEN', { headers })
  expect(none.body.data).toEqual({ total: 0, byError: [], byKey: [], byDevice: [] })
})
