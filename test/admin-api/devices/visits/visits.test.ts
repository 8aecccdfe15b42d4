import { beforeAll, expect, test } from '@jest/globals'
import { deviceErased } from '../../../contracts/store-samples.ts'
import { T0 } from '../../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../../admin-harness.ts'

const MINUTE = 60_000
const METRE = 1 / 111_195

let harness: AdminHarness
let headers: Record<string, string>

/** Each a device, the minute, and the metres to the north of the gate. */
async function drive(deviceId: string, ...path: readonly (readonly [number, number])[]) {
  const changes = path.map(([minute, north]) => {
    const timestamp = T0 + minute * MINUTE
    const latitude = 48 + north * METRE
    return { deviceId, latitude, longitude: 16, timestamp, receivedAt: timestamp + 500 }
  })
  await harness.project(...(changes as [(typeof changes)[number], ...typeof changes]))
}

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  await drive('crane', [-90, 0])
  await drive('van', [-5, 500], [5, 20], [9, 110], [15, -20], [20, 500], [30, 0], [31, 900])
  await drive('truck', [50, 0])
  await harness.api('PATCH', '/devices/van', {
    headers,
    body: { name: 'Van 1', labels: ['night'] },
  })
})

const CIRCLE = 'latitude=48&longitude=16&radius=100'
const at = (minute: number) => new Date(T0 + minute * MINUTE).toISOString()
const HOUR = `from=${at(0)}&to=${at(60)}`
const ask = (query: string, as = headers) => harness.api('GET', `/visits?${query}`, { headers: as })

async function stays(query: string, as = headers) {
  const { items } = (await ask(query, as)).body.data ?? {}
  return items?.map(({ deviceId, from, to, open }) => [deviceId, from, to, open])
}

const CRANE = ['crane', at(0), at(60), 'both']
const VAN = [
  ['van', at(5), at(20), null],
  ['van', at(30), at(31), null],
]
const TRUCK = ['truck', at(50), at(60), 'after']

test('visits last from the first record inside to the first one outside, within the range', async () => {
  expect(await stays(`${CIRCLE}&${HOUR}`)).toEqual([CRANE, TRUCK, ...VAN])
  const { items } = (await ask(`${CIRCLE}&${HOUR}&deviceId=van&limit=1`)).body.data ?? {}
  // The record 10 m outside does not end it.
  const seconds = 15 * 60
  expect(items).toEqual([
    {
      deviceId: 'van',
      name: 'Van 1',
      from: at(5),
      to: at(20),
      seconds,
      open: null,
      lastInsideAt: at(15),
    },
  ])
})

test('a visit that began before the range is cut to it, and has the time of the last record inside', async () => {
  const { items } = (await ask(`${CIRCLE}&from=${at(16)}&to=${at(18)}`)).body.data ?? {}
  expect(items?.map(({ deviceId, open, lastInsideAt }) => [deviceId, open, lastInsideAt])).toEqual([
    ['crane', 'both', at(-90)],
    ['van', 'both', at(15)],
  ])
})

test('each visit is on exactly one page, also for a single device', async () => {
  const pages = await harness.allPages(`/visits?${CIRCLE}&${HOUR}&limit=1`, { headers })
  expect(pages.map(({ deviceId, from }) => [deviceId, from])).toEqual(
    [CRANE, TRUCK, ...VAN].map(([deviceId, from]) => [deviceId, from]),
  )
})

test('visits to a geofence include visits before its creation, and by devices that it does not apply to', async () => {
  const corner = (east: number, north: number) => [16 + east * METRE, 48 + north * METRE]
  const ring = [
    corner(-95, -95),
    corner(95, -95),
    corner(95, 95),
    corner(-95, 95),
    corner(-95, -95),
  ]
  const shape = { type: 'Polygon', coordinates: [ring] }
  const body = { name: 'Gate', shape, deviceIds: ['crane'] }
  const { data } = (await harness.api('POST', '/geofences', { headers, body })).body
  expect(await stays(`geofenceId=${String(data?.['id'])}&${HOUR}`)).toEqual([CRANE, TRUCK, ...VAN])
})

test('visits are filtered by label and device, and a key sees only those of its devices', async () => {
  expect(await stays(`${CIRCLE}&${HOUR}&label=night`)).toEqual(VAN)
  expect(await stays(`${CIRCLE}&${HOUR}&deviceId=truck`)).toEqual([TRUCK])
  expect(await stays(`${CIRCLE}&${HOUR}&deviceId=tru*`)).toEqual([])
  const bound = async (...deviceIds: readonly string[]) =>
    bearer((await harness.createKey({ scopes: ['positions:read'], deviceIds })).secret)
  expect(await stays(`${CIRCLE}&${HOUR}`, await bound('tru*'))).toEqual([TRUCK])
  expect(await stays(`${CIRCLE}&${HOUR}&deviceId=van`, await bound('truck'))).toEqual([])
  const { nextCursor } = (await ask(`${CIRCLE}&${HOUR}&limit=1`)).body.data ?? {}
  expect(await stays(`${CIRCLE}&${HOUR}&limit=1&cursor=${nextCursor}`, await bound('van'))).toEqual(
    [VAN[0]],
  )
})

test('late records count, but not records of an erased device', async () => {
  await drive('late', [58, 900])
  await drive('late', [40, 0], [41, 900])
  expect(await stays(`${CIRCLE}&${HOUR}&deviceId=late`)).toEqual([['late', at(40), at(41), null]])
  await harness.store.hideErased(deviceErased({ accountId: 'acc-1', deviceId: 'late' }))
  expect(await stays(`${CIRCLE}&${HOUR}`)).toEqual([CRANE, TRUCK, ...VAN])
})

test('the range ends now, and begins a day before its end', async () => {
  expect(await stays(`${CIRCLE}&deviceId=truck`)).toEqual([['truck', at(50), at(60), 'after']])
  expect(await stays(`${CIRCLE}&deviceId=truck&to=${at(900)}`)).toEqual([
    ['truck', at(50), at(60), 'after'],
  ])
  expect(await stays(`${CIRCLE}&to=${at(40)}&deviceId=crane`)).toEqual([
    ['crane', at(-90), at(40), 'after'],
  ])
})

test('visits can be exported as a file that is safe from formulas', async () => {
  await drive('sum', [52, 0], [53, 800])
  await harness.api('PATCH', '/devices/sum', { headers, body: { name: '=1+1' } })
  const { text, headers: answered } = await ask(`${CIRCLE}&${HOUR}&format=csv`)
  expect(answered.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(text.split('\r\n').slice(0, 3)).toEqual([
    'deviceId,name,from,to,seconds,open,lastInsideAt',
    `crane,,${at(0)},${at(60)},3600,both,${at(-90)}`,
    `sum,'=1+1,${at(52)},${at(53)},60,,${at(52)}`,
  ])
})
