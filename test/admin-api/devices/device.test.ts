import { beforeAll, expect, test } from '@jest/globals'
import { ODD_DEVICE_IDS } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const [first, ...others] = ODD_DEVICE_IDS
  await harness.project({ deviceId: first ?? '' }, ...others.map((deviceId) => ({ deviceId })))
})

function path(deviceId: string): string {
  return `/devices/${encodeURIComponent(deviceId)}`
}

test('a device is shown with its status, computed when read', async () => {
  const receivedAt = T0 + 3_600_000
  const [event] = await harness.project({
    deviceId: 'tug',
    accuracy: 4.5,
    battery: 0,
    receivedAt,
  })
  harness.clock.time = receivedAt
  const read = () => harness.api('GET', path('tug'), { headers })
  const fresh = (await read()).body.data
  expect(fresh).toEqual({
    deviceId: 'tug',
    name: null,
    status: 'online',
    lastSeenAt: '2026-01-01T01:00:00.000Z',
    firstSeenAt: '2026-01-01T01:00:00.000Z',
    reportCount: 1,
    disabled: false,
    labels: [],
    inside: [],
    raised: [],
    lastKeyId: 'key-1',
    lastPosition: {
      recordId: event?.recordId,
      latitude: event?.latitude,
      longitude: event?.longitude,
      timestamp: new Date(event?.timestamp ?? NaN).toISOString(),
      receivedAt: '2026-01-01T01:00:00.000Z',
      accuracy: 4.5,
      battery: 0,
    },
  })
  harness.clock.time += 5 * 60_000 + 1
  expect((await read()).body.data).toEqual({ ...fresh, status: 'idle' })
  harness.clock.time = receivedAt
})

test('a device that sends its last position again is online, with its current battery, in every response', async () => {
  const first = {
    deviceId: 'phone',
    recordId: '01KDVN9C0A0000000000000001',
    timestamp: T0 - 7_200_000,
  }
  const [event] = await harness.project({ ...first, receivedAt: T0 - 7_200_000, battery: 0.8 })
  const receivedAt = T0 + 3_600_000
  harness.clock.time = receivedAt
  const read = () => harness.api('GET', path('phone'), { headers })
  expect((await read()).body.data).toMatchObject({ status: 'offline' })
  expect((await read()).body.data).not.toHaveProperty('telemetry')
  const attributes = { charging: true, connection: 'mobile' }
  await harness.project({ ...first, receivedAt, battery: 0.42, attributes, keyId: 'key-2' })
  const now = '2026-01-01T01:00:00.000Z'
  const shown = (await read()).body.data
  expect(shown).toMatchObject({
    status: 'online',
    lastSeenAt: now,
    reportCount: 1,
    lastKeyId: 'key-2',
    lastPosition: {
      recordId: event?.recordId,
      receivedAt: '2025-12-31T22:00:00.000Z',
      battery: 0.8,
    },
    telemetry: { receivedAt: now, battery: 0.42, attributes },
  })
  const list = await harness.api('GET', '/devices?q=phone', { headers })
  expect(list.body.data).toMatchObject({ items: [shown] })
  await harness.project({ deviceId: 'phone', timestamp: receivedAt, receivedAt })
  expect((await read()).body.data).not.toHaveProperty('telemetry')
})

test('a device whose positions were all imported has no key', async () => {
  await harness.project({ deviceId: 'history', imported: true, keyId: 'key-import' })
  const { body } = await harness.api('GET', path('history'), { headers })
  expect(body.data).not.toHaveProperty('lastKeyId')
  const list = await harness.api('GET', '/devices?keyId=key-import', { headers })
  expect(list.body.data).toMatchObject({ items: [] })
})

test('a device that is disabled and expired can be enabled again, and erased', async () => {
  const call = (method: string, deviceId: string, body?: object) =>
    harness.api(method, path(deviceId), { headers, ...(body !== undefined && { body }) })
  for (const deviceId of ['lost-1', 'lost-2', 'lost-3']) {
    await harness.project({ deviceId, receivedAt: T0 - 1 })
    await call('PATCH', deviceId, { disabled: deviceId !== 'lost-3' })
  }
  await harness.store.expire(T0)
  expect((await call('GET', 'lost-1')).status).toBe(404)

  const enabled = await call('PATCH', 'lost-1', { disabled: false })
  expect(enabled).toMatchObject({ status: 200 })
  expect(enabled.body.data).toEqual({
    deviceId: 'lost-1',
    name: null,
    status: 'offline',
    reportCount: 0,
    disabled: false,
    labels: [],
  })
  expect((await call('DELETE', 'lost-2')).status).toBe(202)
  for (const deviceId of ['lost-1', 'lost-2', 'lost-3']) {
    expect((await call('PATCH', deviceId, { disabled: false })).status).toBe(404)
    expect((await call('DELETE', deviceId)).status).toBe(404)
  }
  await harness.project({ deviceId: 'lost-1' })
  expect((await call('GET', 'lost-1')).body.data).toMatchObject({ disabled: false })
})

test.each(ODD_DEVICE_IDS)(
  'a device with the odd id %j is found by exactly that id',
  async (deviceId) => {
    const answer = await harness.api('GET', path(deviceId), { headers })
    expect(answer.body.data).toMatchObject({ deviceId, reportCount: 1 })
  },
)

test('a device that does not exist is a 404', async () => {
  expect((await harness.api('GET', path('nobody'), { headers })).status).toBe(404)
  expect(
    (await harness.api('PATCH', path('nobody'), { headers, body: { name: 'x' } })).status,
  ).toBe(404)
})

test.each(['%', '%zz', '%ff', '%c3%28', '%ed%a0%80'])(
  'a device requested with the broken encoding %s is a 400 that names deviceId',
  async (encoded) => {
    for (const rest of ['', '/positions']) {
      const answer = await harness.api('GET', `/devices/${encoded}${rest}`, { headers })
      expect(answer.status).toBe(400)
      expect(answer.body.details?.[0]?.field).toBe('deviceId')
    }
  },
)

test('changing a device sets the given fields, and null removes a value', async () => {
  const change = async (body: object) =>
    (await harness.api('PATCH', path('truck'), { headers, body })).body.data
  const named = { name: '<script>alert(1)</script>', disabled: true, expectedIntervalSeconds: 30 }
  expect(await change(named)).toMatchObject({ deviceId: 'truck', ...named })
  expect(await change({ disabled: false })).toMatchObject({ ...named, disabled: false })
  const bare = await change({ name: null, expectedIntervalSeconds: null })
  expect(bare).toMatchObject({ name: null, disabled: false })
  expect(bare).not.toHaveProperty('expectedIntervalSeconds')
  expect((await harness.api('GET', path('truck'), { headers })).body.data).toEqual({
    ...(bare as object),
    inside: [],
    raised: [],
  })
})

test.each([1, 31_622_400])(
  'changing a device accepts an expected interval of %d s',
  async (seconds) => {
    const body = { expectedIntervalSeconds: seconds }
    const answer = await harness.api('PATCH', path('truck'), { headers, body })
    expect(answer.body.data).toMatchObject(body)
    await harness.api('PATCH', path('truck'), { headers, body: { expectedIntervalSeconds: null } })
  },
)

test('a dispatcher can name and label a device and set its interval; only an admin can disable it', async () => {
  const { id } = await harness.createOperator({ role: 'dispatcher' })
  const dispatcher = await harness.createSession(id)
  const change = (body: object) =>
    harness.api('PATCH', path('truck'), { headers: dispatcher, body })
  const said = { name: 'Truck 1', labels: ['red'], expectedIntervalSeconds: 60 }
  expect((await change(said)).body.data).toMatchObject(said)
  for (const body of [{ disabled: true }, { name: 'Truck 2', disabled: false }]) {
    const refused = await change(body)
    expect(refused.status).toBe(403)
    expect(refused.body.message).toBe('disabled needs the role admin; yours is dispatcher')
  }
  const device = await harness.api('GET', path('truck'), { headers })
  expect(device.body.data).toMatchObject({ name: 'Truck 1', disabled: false })
})

test('changing a device leaves all other devices unchanged', async () => {
  await harness.api('PATCH', path('%'), { headers, body: { disabled: true } })
  const { body } = await harness.api('GET', '/devices', { headers })
  const disabled = body.data?.items?.filter((device) => device['disabled'] === true)
  expect(disabled?.map(({ deviceId }) => deviceId)).toEqual(['%'])
})
