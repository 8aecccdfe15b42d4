import { beforeAll, expect, test } from '@jest/globals'
import { ODD_DEVICE_IDS } from '../../contracts/store-samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const deviceIds = [...ODD_DEVICE_IDS, 'truck']
  await harness.project({ deviceId: 'van' }, ...deviceIds.map((deviceId) => ({ deviceId })))
})

test('the list of devices has pages that contain each device once, even while new ones report', async () => {
  let page = 0
  const between = () => {
    page += 1
    return harness.project({ deviceId: ` after ${page}` }, { deviceId: `~${page}` })
  }
  const devices = await harness.allPages('/devices?limit=7', { headers, between })
  const seen = devices.map(({ deviceId }) => deviceId)
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).toEqual(expect.arrayContaining([...ODD_DEVICE_IDS]))
})

test('the list of devices has no further page after a full last page', async () => {
  const { body } = await harness.api('GET', '/devices?limit=1000', { headers })
  const all = body.data?.items?.length ?? 0
  const exact = await harness.api('GET', `/devices?limit=${all}`, { headers })
  expect(exact.body.data).toEqual({ items: body.data?.items, nextCursor: null })
})

test('the summary of devices counts the devices of each status, as the list shows them', async () => {
  await harness.project({ deviceId: 'late', receivedAt: harness.clock.now() - 6 * 60_000 })
  await harness.api('PATCH', '/devices/late', { headers, body: { disabled: true } })
  const { items = [] } =
    (await harness.api('GET', '/devices?limit=10000', { headers })).body.data ?? {}
  const of = (status: string) => items.filter((device) => device['status'] === status).length
  expect(of('idle')).toBeGreaterThan(0)
  const answer = await harness.api('GET', '/devices/summary', { headers })
  expect(answer.body.data).toEqual({
    total: items.length,
    online: of('online'),
    idle: of('idle'),
    offline: of('offline'),
    disabled: items.filter((device) => device['disabled'] === true).length,
    asOf: new Date(harness.clock.now()).toISOString(),
  })
})

test('the summary of devices covers only the devices of a bound key', async () => {
  const { secret } = await harness.createKey({
    scopes: ['devices:read'],
    deviceIds: ['late', 'tru*'],
  })
  const answer = await harness.api('GET', '/devices/summary', { headers: bearer(secret) })
  const list = await harness.api('GET', '/devices', { headers: bearer(secret) })
  expect(answer.body.data).toMatchObject({ total: list.body.data?.items?.length, disabled: 1 })
})

test('the summary of devices does not hide a device called summary', async () => {
  await harness.project({ deviceId: 'summary' })
  const device = await harness.api('GET', '/devices/%73ummary', { headers })
  expect(device.body.data).toMatchObject({ deviceId: 'summary' })
  const changed = await harness.api('PATCH', '/devices/summary', { headers, body: { name: 'S' } })
  expect(changed.body.data).toMatchObject({ deviceId: 'summary', name: 'S' })
})
