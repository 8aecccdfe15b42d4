import { expect, test } from '@jest/globals'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import { adminForAllTests, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))
const ask = (method: string, path: string, body?: unknown) =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })

const HOOK = {
  kind: 'webhook',
  url: 'https://hooks.example.org/s3cret',
  headers: { 'x-a': 's3cret' },
}

async function subscribe(target: object = HOOK, fields: object = {}) {
  const body = { name: 'Office', source: 'facts', target, zone: 'UTC', ...fields }
  return String((await ask('POST', '/subscriptions', body)).body.data?.['id'])
}

/** An alarm of a device, which is stored. */
async function alarmOf(deviceId: string): Promise<DeviceFact> {
  await harness.project({ deviceId })
  const at = harness.clock.now()
  const own = { accountId: 'acc-1', deviceId, at, decidedAt: at, inside: [], sequence: 1 }
  const alarm = { ...own, type: 'alarm.reported', alarm: 'sos', late: false } as const
  const fact: DeviceFact = { ...alarm, id: factId(alarm, '') }
  const state = { sequence: 1, applied: {}, due: null }
  const judge = () => ({ state, facts: [fact] })
  await harness.store.judgeFacts({ devices: [{ accountId: 'acc-1', deviceId, judge }] })
  return fact
}

function deliver(subscriptionId: string, number: number, ids: readonly string[], status = 200) {
  return harness.store.saveDelivery({
    accountId: 'acc-1',
    subscriptionId,
    number,
    at: harness.clock.now(),
    ids,
    deviceIds: [],
    attempt: 1,
    status,
    milliseconds: 3,
    answer: '',
  })
}

test('a delivery is rendered again from its ids: sentences, headers without secrets, body', async () => {
  const id = await subscribe()
  const fact = await alarmOf('van-1')
  await ask('PATCH', '/devices/van-1', { name: 'Van 1' })
  await deliver(id, 1, [fact.id], 500)
  const list = await ask('GET', `/subscriptions/${id}/deliveries`)
  expect(list.body.data?.items).toMatchObject([
    { number: 1, status: 500, text: 'Van 1 sent an SOS' },
  ])
  const { body, text } = await ask('GET', `/subscriptions/${id}/deliveries/1`)
  expect(body.data).toMatchObject({
    number: 1,
    items: [{ id: fact.id, text: 'Van 1 sent an SOS' }],
    request: {
      to: 'https://hooks.example.org',
      headers: {
        'content-type': 'application/json',
        'webhook-id': fact.id,
        'webhook-timestamp': String(Math.floor(harness.clock.now() / 1_000)),
      },
    },
  })
  const { request } = body.data as unknown as { request: { body: string } }
  expect(JSON.parse(request.body)).toMatchObject({
    type: 'alarm.reported',
    data: { id: fact.id, deviceName: 'Van 1', alarm: 'sos' },
  })
  expect(text).not.toContain('s3cret')
  expect(text).not.toContain('signature')
})

test('a delivery rendered again omits what has been erased since', async () => {
  const id = await subscribe({ ...HOOK, batch: 10 })
  const [kept, gone] = [await alarmOf('kept'), await alarmOf('gone')]
  await deliver(id, 1, [gone.id])
  await deliver(id, 2, [gone.id, kept.id])
  expect((await ask('DELETE', '/devices/gone')).status).toBe(202)
  const first = await ask('GET', `/subscriptions/${id}/deliveries/1`)
  expect(first.body.data).toMatchObject({ ids: [gone.id], items: [], request: null })
  const second = await ask('GET', `/subscriptions/${id}/deliveries/2`)
  expect(second.body.data).toMatchObject({ items: [{ id: kept.id }] })
  const { request } = second.body.data as unknown as { request: { body: string } }
  expect(JSON.parse(request.body)).toMatchObject({
    type: 'batch',
    data: { items: [{ data: { id: kept.id } }], mark: 'rendered again' },
  })
  expect(second.text).not.toContain('"gone"')
  const { items } = (await ask('GET', `/subscriptions/${id}/deliveries`)).body.data!
  for (const item of items!) expect(item).not.toHaveProperty('text')
})

test('positions, tests and chat messages are rendered as they are sent', async () => {
  const positions = await subscribe(HOOK, { source: 'positions' })
  const [record] = await harness.project({ deviceId: 'boat' })
  const recordId = String((record as unknown as { recordId: string }).recordId)
  await deliver(positions, 1, [recordId])
  const sent = await ask('GET', `/subscriptions/${positions}/deliveries/1`)
  expect(sent.body.data).toMatchObject({ items: [{ text: 'boat reported a position' }] })
  const token = `1:${'x'.repeat(30)}`
  const chat = await subscribe({ kind: 'telegram', token, chatId: '-42' })
  await deliver(chat, 1, ['test_1'])
  const tested = await ask('GET', `/subscriptions/${chat}/deliveries/1`)
  expect(tested.body.data).toMatchObject({
    items: [{ text: 'This is a test: notifications arrive here.' }],
    request: { to: 'https://api.telegram.org' },
  })
  expect(tested.text).not.toContain('xxx')
  await deliver(chat, 2, ['gap_1'])
  const gap = await ask('GET', `/subscriptions/${chat}/deliveries/2`)
  expect(gap.body.data).toMatchObject({
    items: [{ text: 'Some events before the next ones were not sent.' }],
    request: null,
  })
})

test('failed deliveries are found among the others, page by page', async () => {
  const id = await subscribe()
  for (let number = 1; number <= 250; number += 1) {
    await deliver(id, number, ['x'], number % 100 === 0 ? 503 : 200)
  }
  const failed = await harness.allPages(`/subscriptions/${id}/deliveries?outcome=failed&limit=1`, {
    headers,
  })
  expect(failed.map((one) => (one as unknown as { number: number }).number)).toEqual([200, 100])
  const wrong = await ask('GET', `/subscriptions/${id}/deliveries?outcome=late`)
  expect(wrong.body.message).toBe('outcome must be failed')
})

test('an unknown or expired delivery is not found', async () => {
  const id = await subscribe()
  await deliver(id, 1, ['x'])
  const message = 'there is no delivery with this number (any more)'
  for (const number of ['2', '0', '-1', '1.5', 'x']) {
    const { status, body } = await ask('GET', `/subscriptions/${id}/deliveries/${number}`)
    expect([status, body.message]).toEqual([404, message])
  }
})
