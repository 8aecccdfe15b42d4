import { beforeAll, expect, test } from '@jest/globals'
import type { DefinitionsState } from '../../../schemas/definitions/definitions-state.ts'
import { T0 } from '../../samples.ts'
import { adminForAllTests, bearer, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let depot: string
let fast: string
adminForAllTests((given) => ({ harness, headers } = given))
const ask = (method: string, path: string, body?: unknown) =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })
const ids = async (path: string) =>
  (await ask('GET', path)).body.data?.items?.map(({ deviceId }) => deviceId)

beforeAll(async () => {
  await harness.project({ deviceId: 'tug' }, { deviceId: 'ferry' }, { deviceId: 'barge' })
  const shape = { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 }
  depot = String((await ask('POST', '/geofences', { name: 'Depot', shape })).body.data?.['id'])
  const when = { field: 'speed', above: 30 }
  fast = String((await ask('POST', '/rules', { name: 'Fast', when })).body.data?.['id'])
  const rules = { standings: { [fast]: { revision: 1, raisedAt: T0 + 5 } } }
  const inside = (since: number | null) =>
    ({ standings: { [depot]: { side: 'inside', since } } }) as const
  await judged('tug', { geofences: inside(T0 + 1), rules })
  await judged('ferry', { geofences: inside(null), rules: { standings: {} } })
  await judged('barge', {
    geofences: { standings: { [depot]: { side: 'unknown' } } },
    rules: { standings: { [fast]: { revision: 1, wait: { at: T0, receivedAt: T0 } } } },
  })
})

async function judged(deviceId: string, definitions: DefinitionsState): Promise<void> {
  const state = { sequence: 0, applied: {}, due: null, definitions }
  await harness.store.judgeFacts({
    devices: [{ accountId: 'acc-1', deviceId, judge: () => ({ state, facts: [] }) }],
  })
}

const since = new Date(T0 + 1).toISOString()
const raisedSince = new Date(T0 + 5).toISOString()

test('devices in a geofence or with a raised rule are listed with names and times', async () => {
  const first = await ask('GET', `/geofences/${depot}/devices?limit=1`)
  expect(first.body.data?.items).toEqual([{ deviceId: 'ferry', name: null, since: null }])
  const all = await harness.allPages(`/geofences/${depot}/devices?limit=1`, { headers })
  expect(all[1]).toEqual({ deviceId: 'tug', name: null, since })
  expect(all).toHaveLength(2)
  const raised = await ask('GET', `/rules/${fast}/devices`)
  expect(raised.body.data?.items).toEqual([{ deviceId: 'tug', name: null, since: raisedSince }])
  for (const path of ['/geofences/none/devices', '/rules/none/devices']) {
    expect((await ask('GET', path)).status).toBe(404)
  }
})

test('a device shows the names of its geofences and rules, and in lists their ids', async () => {
  expect((await ask('GET', '/devices/tug')).body.data).toMatchObject({
    inside: [{ id: depot, name: 'Depot', since }],
    raised: [{ id: fast, name: 'Fast', since: raisedSince }],
  })
  expect((await ask('GET', '/devices')).body.data?.items).toMatchObject([
    { deviceId: 'barge', inside: [], raised: [] },
    { deviceId: 'ferry', inside: [depot], raised: [] },
    { deviceId: 'tug', inside: [depot], raised: [fast] },
  ])
})

test('devices are filtered by geofence and rule, in pages and in any order', async () => {
  expect(await ids(`/devices?geofenceId=${depot}`)).toEqual(['ferry', 'tug'])
  expect(await ids(`/devices?geofenceId=${depot}&sort=-deviceId`)).toEqual(['tug', 'ferry'])
  expect(await ids(`/devices?ruleId=${fast}`)).toEqual(['tug'])
  expect(await ids(`/devices?ruleId=${fast}&geofenceId=${depot}`)).toEqual(['tug'])
  expect(await ids('/devices?geofenceId=none')).toEqual([])
  const pages = await harness.allPages(`/devices?geofenceId=${depot}&limit=1`, { headers })
  expect(pages.map(({ deviceId }) => deviceId)).toEqual(['ferry', 'tug'])
})

test('a key bound to devices sees no other devices in a geofence', async () => {
  const { secret } = await harness.createKey({ scopes: ['devices:read'], deviceIds: ['tug'] })
  const bound = { headers: bearer(secret) }
  for (const path of [`/geofences/${depot}/devices`, `/devices?geofenceId=${depot}`]) {
    const { body } = await harness.api('GET', path, bound)
    expect(body.data?.items?.map(({ deviceId }) => deviceId)).toEqual(['tug'])
  }
})

test('facts about both a geofence and a rule are rejected', async () => {
  const answer = await ask('GET', '/facts?geofenceId=a&ruleId=b')
  expect(answer.body.message).toBe(
    'geofenceId and ruleId exclude each other: no event is about both',
  )
  expect((await ask('GET', `/facts?geofenceId=${depot}`)).body.data?.items).toEqual([])
})

test('remnants of a disabled geofence or a changed rule are not shown', async () => {
  await ask('PATCH', `/geofences/${depot}`, { enabled: false })
  await ask('PATCH', `/rules/${fast}`, { forSeconds: 5 })
  expect((await ask('GET', '/devices/tug')).body.data).toMatchObject({ inside: [], raised: [] })
  expect(await ids(`/devices?geofenceId=${depot}`)).toEqual([])
  expect(await ids(`/rules/${fast}/devices`)).toEqual([])
})
