import { beforeAll, expect, test } from '@jest/globals'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import { positionReported } from '../samples.ts'
import { bearer, startAdmin, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let facts: DeviceFact[]

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const { time } = harness.clock
  const { recordId, latitude, longitude, timestamp, receivedAt } = positionReported()
  const position = { recordId, latitude, longitude, timestamp, receivedAt }
  facts = ['van-1', 'van-2', '=van'].flatMap((deviceId, n): DeviceFact[] => {
    const at = time - n * 10_000
    const name = { accountId: 'acc-1', deviceId }
    const fact = { ...name, at, decidedAt: at + 100, inside: [], position }
    const alarm = {
      ...fact,
      sequence: 1,
      type: 'alarm.reported',
      alarm: 'sos',
      late: false,
    } as const
    const online = { ...fact, sequence: 2, type: 'device.online', previous: null } as const
    return [
      { ...alarm, id: factId(alarm, '') },
      { ...online, id: factId(online, ''), at: at + 1 },
    ]
  })
  for (const fact of facts) {
    const state = { sequence: fact.sequence, applied: {}, due: null }
    const { accountId, deviceId } = fact
    await harness.store.judgeFacts({
      devices: [{ accountId, deviceId, judge: () => ({ state, facts: [fact] }) }],
    })
  }
})

async function find(query: string, as = headers) {
  const answer = await harness.api('GET', `/facts?${query}`, { headers: as })
  const { items = [], nextCursor } = answer.body.data ?? {}
  return { ...answer, items, nextCursor, ids: items.map(({ id }) => id) }
}

function idsNewestFirst(keeps: (fact: DeviceFact) => boolean = () => true) {
  return facts
    .filter(keeps)
    .sort((a, b) => b.at - a.at)
    .map(({ id }) => id)
}

test('facts come newest first, as they were decided', async () => {
  const { items, ids, nextCursor } = await find('')
  expect(ids).toEqual(idsNewestFirst())
  expect(nextCursor).toBeNull()
  const [first] = items
  expect(first).toMatchObject({
    type: 'device.online',
    sequence: 2,
    deviceId: 'van-1',
    at: new Date(harness.clock.time + 1).toISOString(),
    decidedAt: new Date(harness.clock.time + 100).toISOString(),
    previous: null,
    position: { deviceId: 'van-1', latitude: 45.273518851 },
    inside: [],
  })
  expect(first).not.toHaveProperty('accountId')
})

test('facts can be filtered by type, device and time', async () => {
  expect((await find('type=alarm.reported')).ids).toEqual(
    idsNewestFirst(({ type }) => type === 'alarm.reported'),
  )
  expect((await find('deviceId=van-2')).ids).toEqual(
    idsNewestFirst(({ deviceId }) => deviceId === 'van-2'),
  )
  const from = harness.clock.time - 15_000
  expect((await find(`from=${new Date(from).toISOString()}`)).ids).toEqual(
    idsNewestFirst(({ at }) => at >= from),
  )
})

test('a type that does not exist is a 400', async () => {
  const { status, body } = await find('type=device.gone')
  expect(status).toBe(400)
  expect(body.message).toBe(
    'type must be device.online or device.offline or geofence.entered or geofence.left or rule.raised or rule.cleared or alarm.reported',
  )
  expect((await find('format=xml')).body.message).toBe('format must be json or csv')
})

test('pages hold each fact once', async () => {
  const ids: unknown[] = []
  let cursor = ''
  for (let pages = 0; pages < 3; pages += 1) {
    const page = await find(`limit=2${cursor}`)
    ids.push(...page.ids)
    cursor = `&cursor=${String(page.nextCursor)}`
  }
  expect(ids).toEqual(idsNewestFirst())
})

test('a key that is bound to devices sees only their facts', async () => {
  const key = await harness.createKey({ scopes: ['positions:read'], deviceIds: ['van-*'] })
  const { ids } = await find('', bearer(key.secret))
  expect(ids).toEqual(idsNewestFirst(({ deviceId }) => deviceId !== '=van'))
  expect((await find('deviceId=%3Dvan', bearer(key.secret))).ids).toEqual([])
})

test('the whole range is available as CSV, in which nothing is a formula', async () => {
  const answer = await fetch(`${harness.url}/api/v1/facts?format=csv&type=alarm.reported`, {
    headers,
  })
  expect(answer.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('Content-Disposition')).toBe('attachment; filename="facts.csv"')
  const [header, ...rows] = (await answer.text()).trim().split('\r\n')
  expect(header).toMatch(
    /^id,type,sequence,deviceId,at,decidedAt,previous,alarm,late,definitionId,.*,recordId/,
  )
  expect(rows).toHaveLength(3)
  expect(rows[2]).toContain(",alarm.reported,1,'=van,")
  expect(rows[0]).toContain(',sos,false,')
})

test('facts can be filtered by a label that devices have now', async () => {
  await harness.project({ deviceId: 'van-1' }, { deviceId: 'van-2' })
  const label = (deviceId: string, labels: readonly string[]) =>
    harness.api('PATCH', `/devices/${deviceId}`, { headers, body: { labels } })
  await label('van-1', ['north', 'night'])
  await label('van-2', ['north'])
  const ofNight = idsNewestFirst(({ deviceId }) => deviceId === 'van-1')
  expect((await find('label=night')).ids).toEqual(ofNight)
  expect((await find('label=north&label=night')).ids).toEqual(ofNight)
  expect((await find('label=north&type=alarm.reported')).ids).toHaveLength(2)
  expect((await find('label=nobody')).ids).toEqual([])
  expect((await find('label=night&format=csv')).text).toContain('van-1')
})
