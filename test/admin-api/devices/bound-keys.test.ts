import { beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiKey } from '../../../store/keys.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { bearer, type Data } from '../admin-harness.ts'
import { startStreaming, type StreamHarness } from '../stream/stream-harness.ts'

const OWN = 'tug-1'
const LIKE_OWN = 'ferry-7'
const OTHERS = ['tug-10', 'ferry', 'Tug-1', 'buoy'] as const
const RECORDS: Record<string, string> = {}

const SCOPES: ApiKey['scopes'] = ['positions:read', 'devices:read']

let harness: StreamHarness

beforeAll(async () => {
  harness = await startStreaming()
  for (const deviceId of [OWN, LIKE_OWN, ...OTHERS]) {
    const event = positionReported({ deviceId })
    RECORDS[deviceId] = event.recordId
    await harness.eventLog.append([event])
  }
  harness.project()
  await eventually(async () => {
    return (await harness.store.pageDevices({ accountId: 'acc-1', limit: 9 })).length === 6
  })
})

/** Keys bound to `tug-1` and to ids that start with `ferry-`, in different ways. */
const KEYS: [what: string, changes: Partial<ApiKey>][] = [
  ['a key for some devices', { scopes: SCOPES, deviceIds: [OWN, 'ferry-*'] }],
  ['one of before that is for everything too', { deviceIds: [OWN, 'ferry-*'], scopes: ['admin'] }],
]

describe.each(KEYS)('for %s', (_what, changes) => {
  let headers: Record<string, string>
  const get = (path: string) => harness.api('GET', path, { headers })
  const idsOf = (data: Data | undefined) => data?.items?.map(({ deviceId }) => deviceId)

  beforeAll(async () => {
    headers = bearer((await harness.createKey(changes)).secret)
  })

  const paths = ['', ...['json', 'geojson', 'gpx', 'csv', 'ndjson']].map((format) =>
    format === '' ? '/devices/:id' : `/devices/:id/positions?format=${format}`,
  )

  test.each([...paths, '/positions/:recordId'])(
    'GET %s shows the devices of the key, and responds with 404 for all others',
    async (pattern) => {
      const path = (deviceId: string) =>
        pattern.replace(':id', deviceId).replace(':recordId', RECORDS[deviceId] ?? 'none')
      for (const deviceId of [OWN, LIKE_OWN]) expect((await get(path(deviceId))).status).toBe(200)
      const nothing = await get(path('nothing'))
      expect(nothing.status).toBe(404)
      for (const deviceId of OTHERS) {
        const answer = await get(path(deviceId))
        expect(answer.status).toBe(404)
        expect(answer.body).toEqual(nothing.body)
      }
    },
  )

  test.each(['', '?q=1', '?status=online', '?sort=-lastSeenAt', '?bbox=-180,-90,180,90'])(
    'GET /devices%s lists only the devices of the key',
    async (query) => {
      harness.clock.time = positionReported().receivedAt
      const { body } = await get(`/devices${query}`)
      const found = query === '?q=1' ? [OWN] : [LIKE_OWN, OWN]
      expect(idsOf(body.data)?.sort()).toEqual(found)
    },
  )

  test('the pages of GET /devices are full and end with the last device of the key', async () => {
    const first = await get('/devices?limit=1')
    expect(idsOf(first.body.data)).toEqual([LIKE_OWN])
    const second = await get(`/devices?limit=1&cursor=${first.body.data?.nextCursor ?? ''}`)
    expect(idsOf(second.body.data)).toEqual([OWN])
    expect(second.body.data?.nextCursor).toBeNull()
  })

  test('the stream shows only the devices of the key, live and after a resume', async () => {
    const source = await harness.listen({ headers })
    const mark = source.lastEventId()
    const events = [OWN, ...OTHERS, LIKE_OWN].map((deviceId) => positionReported({ deviceId }))
    await harness.eventLog.append(events)
    const shown = (stream: typeof source) =>
      stream.of('position').map(({ data }) => data['deviceId'])
    await eventually(() => shown(source).length === 2)
    await eventually(() => source.of('device-status').length >= 2)
    const again = await harness.listen({ headers, lastEventId: mark })
    await eventually(() => shown(again).length === 2)
    for (const stream of [source, again]) {
      expect(shown(stream)).toEqual([OWN, LIKE_OWN])
      const told = stream.of('device-status').map(({ data }) => data['deviceId'])
      expect(told.filter((deviceId) => deviceId !== OWN && deviceId !== LIKE_OWN)).toEqual([])
    }
    const other = await harness.listen({ headers, query: '?deviceId=buoy', lastEventId: mark })
    await harness.eventLog.append([positionReported({ deviceId: 'buoy' })])
    await eventually(() => other.heartbeats.length > 0)
    expect(other.events).toEqual([])
    for (const stream of [source, again, other]) stream.close()
  })

  test.each([
    ['GET', '/keys'],
    ['GET', '/rejections'],
    ['GET', '/audit'],
    ['GET', '/system'],
    ['POST', '/keys'],
    ['PATCH', `/devices/${OWN}`],
    ['DELETE', `/devices/${OWN}`],
  ])('%s %s is forbidden', async (method, path) => {
    expect((await harness.api(method, path, { headers })).status).toBe(403)
  })
})

test('a stream ends soon after the devices of its key have changed', async () => {
  const { id, secret } = await harness.createKey({ scopes: SCOPES, deviceIds: [OWN] })
  const source = await harness.listen({ headers: bearer(secret) })
  await harness.store.changeKey({ accountId: 'acc-1', keyId: id, deviceIds: ['buoy'] })
  await eventually(() => source.hasEnded())
})

test('a key cannot have both a list of devices and full access', async () => {
  const headers = bearer((await harness.createKey()).secret)
  const refused = {
    status: 400,
    body: { details: [{ field: 'deviceIds', message: expect.stringContaining('admin') }] },
  }
  const body = { name: 'gateway', scopes: ['admin', 'devices:read'], deviceIds: ['*'] }
  expect(await harness.api('POST', '/keys', { headers, body })).toMatchObject(refused)
  const { id } = await harness.createKey()
  const change = { headers, body: { deviceIds: [OWN] } }
  expect(await harness.api('PATCH', `/keys/${id}`, change)).toMatchObject(refused)
  for (const deviceIds of [null, undefined]) {
    const made = { headers, body: { ...body, deviceIds } }
    expect((await harness.api('POST', '/keys', made)).status).toBe(201)
  }
  const bound = await harness.createKey({ deviceIds: [OWN] })
  const free = { headers, body: { deviceIds: null } }
  expect((await harness.api('PATCH', `/keys/${bound.id}`, free)).status).toBe(200)
})
