import { afterEach, describe, expect, test } from '@jest/globals'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import type { ReportRejected } from '../../../schemas/events/report-rejected.ts'
import { ulid } from '../../../schemas/events/record-id.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { batchOf } from '../../contracts/store-samples.ts'
import { factsOfAllTypes } from '../../schemas/facts-samples.ts'
import { bearer } from '../admin-harness.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  return harness
}

afterEach(() => harness.close())

let made = 0

function rejected(changes: Partial<ReportRejected> = {}): ReportRejected {
  made += 1
  const receivedAt = changes.receivedAt ?? harness.clock.now()
  return {
    rejectionId: ulid(receivedAt, Buffer.alloc(10, `${made}`.padStart(10))),
    accountId: 'acc-1',
    keyId: 'key-1',
    receivedAt,
    error: 'INVALID_PARAMS',
    message: 'latitude must be a number from -90 to 90',
    deviceId: 'tug',
    body: '{"deviceId":"tug","latitude":"<script>"}',
    count: 1,
    ...changes,
  }
}

const FACTS = { query: '?events=fact' }

describe('facts on the stream', () => {
  test('facts on the stream are as in the list, without an id, and only for readers that asked for them', async () => {
    const { listen, api, createKey } = await start()
    const source = await listen(FACTS)
    const usual = await listen()
    const facts = await decide()
    await decide({ accountId: 'acc-2', deviceId: 'theirs' })
    await eventually(() => source.of('fact').length === facts.length)
    const { secret } = await createKey()
    const list = await api('GET', '/facts', { headers: bearer(secret) })
    expect(source.of('fact').map(({ data }) => data)).toEqual(
      expect.arrayContaining([...(list.body.data?.items ?? [])]),
    )
    expect(source.of('fact').some(({ hasId }) => hasId)).toBe(false)
    expect(usual.events).toEqual([])
  })

  test('facts from before the reader connected are left to the list, except very recent ones', async () => {
    const { listen, clock } = await start()
    const now = clock.now()
    await decide({ deviceId: 'old', decidedAt: now - 2_001 })
    const recent = await decide({ deviceId: 'recent', decidedAt: now - 2_000 })
    const source = await listen(FACTS)
    await eventually(() => source.of('fact').length >= recent.length)
    expect(source.of('fact').map(({ data }) => data['id'])).toEqual(recent.map(({ id }) => id))
  })

  test('readers only get facts of the requested device and of the key’s devices', async () => {
    const { listen, createKey } = await start()
    const { secret } = await createKey({ scopes: ['positions:read'], deviceIds: ['van-*'] })
    const bound = await listen({ ...FACTS, headers: bearer(secret) })
    const ofDevice = await listen({ query: '?events=fact&deviceId=lorry' })
    const vans = await decide({ deviceId: 'van-1' })
    const lorries = await decide({ deviceId: 'lorry' })
    await eventually(() => ofDevice.of('fact').length === lorries.length)
    await eventually(() => bound.of('fact').length === vans.length)
    expect(new Set(bound.of('fact').map(({ data }) => data['deviceId']))).toEqual(
      new Set(['van-1']),
    )
  })

  test('facts of a device being erased are not sent', async () => {
    const { listen, erase, store } = await start()
    const origin = { partition: 0, offset: 1 }
    const event = positionReported({ deviceId: 'gone' })
    await store.project(batchOf({ kind: 'position', origin, event }))
    await erase('gone')
    const source = await listen(FACTS)
    await decide({ deviceId: 'gone', decidedAt: harness.clock.now() })
    const others = await decide({ deviceId: 'other', decidedAt: harness.clock.now() })
    await eventually(() => source.of('fact').length >= others.length)
    expect(new Set(source.of('fact').map(({ data }) => data['deviceId']))).not.toContain('gone')
  })
})

describe('handling of facts on the stream', () => {
  const HANDLING = { query: '?events=fact-handling' }

  test('each change of an alarm’s handling is sent immediately and once, and only to readers of its account', async () => {
    const { listen, api, createKey } = await start()
    const { secret } = await createKey({ name: 'Control room' })
    const bound = await createKey({ scopes: ['positions:read'], deviceIds: ['bus'] })
    const source = await listen(HANDLING)
    const others = await listen({ ...HANDLING, headers: bearer(bound.secret) })
    const usual = await listen()
    const facts = await decide()
    const id = facts.find(({ type }) => type === 'alarm.reported')!.id
    const call = (what: string, body?: object) =>
      api('POST', `/facts/${id}/${what}`, { headers: bearer(secret), ...(body && { body }) })
    await call('take')
    await eventually(() => source.of('fact-handling').length === 1)
    await call('take')
    await call('close', { note: 'False alarm' })
    await eventually(() => source.of('fact-handling').length === 2)
    const at = new Date(harness.clock.now()).toISOString()
    const common = { operator: 'Control room', at }
    expect(source.of('fact-handling').map(({ data }) => data)).toEqual([
      { id, deviceId: 'van-1', handling: { state: 'taken', ...common } },
      { id, deviceId: 'van-1', handling: { state: 'closed', ...common, note: 'False alarm' } },
    ])
    expect(source.of('fact-handling').some(({ hasId }) => hasId)).toBe(false)
    expect([others.events, usual.events]).toEqual([[], []])
  })
})

/** Facts of all types of a device, decided now. */
async function decide({
  accountId = 'acc-1',
  deviceId = 'van-1',
  decidedAt = harness.clock.now(),
} = {}): Promise<DeviceFact[]> {
  const facts = factsOfAllTypes({ accountId, deviceId }).map((fact) => {
    made += 1
    return { ...fact, id: ulid(decidedAt, Buffer.alloc(10, `${made}`.padStart(10))), decidedAt }
  })
  const judge = () => ({ state: { sequence: facts.length, applied: {}, due: null }, facts })
  await harness.store.judgeFacts({ devices: [{ accountId, deviceId, judge }] })
  return facts
}

const REJECTIONS = { query: '?events=rejection' }

describe('rejections on the stream', () => {
  test('the stream sends each rejection once, as in the list, without an id, and only to readers that requested them', async () => {
    const { createKey, listen, api, store } = await start()
    const { secret } = await createKey()
    const source = await listen({ headers: bearer(secret), ...REJECTIONS })
    const usual = await listen()
    const [first, second] = [rejected(), rejected({ error: 'RATE_LIMITED', count: 7 })]
    await store.saveRejections([first])
    await eventually(() => source.of('rejection').length === 1)
    await store.saveRejections([second])
    await eventually(() => source.of('rejection').length === 2)
    await store.saveRejections([first, second, rejected({ accountId: 'acc-2' })])
    await store.saveRejections([rejected({ deviceId: 'last' })])
    await eventually(() => source.of('rejection').length === 3)
    const list = await api('GET', '/rejections', { headers: bearer(secret) })
    const shown = source.of('rejection')
    expect(shown.map(({ data }) => data)).toEqual(
      expect.arrayContaining([...(list.body.data?.items ?? [])]),
    )
    expect(shown.some(({ hasId }) => hasId)).toBe(false)
    expect(usual.events).toEqual([])
  })

  test('rejections from before the reader connected are left to the list, except very recent ones', async () => {
    const { createKey, listen, store, clock } = await start()
    const { secret } = await createKey()
    const now = clock.now()
    const [old, justNow] = [
      rejected({ receivedAt: now - 2_001 }),
      rejected({ receivedAt: now - 2_000 }),
    ]
    await store.saveRejections([old, justNow])
    const source = await listen({ headers: bearer(secret), ...REJECTIONS })
    await eventually(() => source.of('rejection').length === 1)
    const late = rejected({ receivedAt: now - 29_000, deviceId: 'late' })
    await store.saveRejections([late])
    await eventually(() => source.of('rejection').length === 2)
    expect(source.of('rejection').map(({ data }) => data['rejectionId'])).toEqual([
      justNow.rejectionId,
      late.rejectionId,
    ])
  })

  test('rejections on the stream can be limited to one device', async () => {
    const { createKey, listen, store } = await start()
    const { secret } = await createKey()
    const query = '?events=rejection&deviceId=tug'
    const source = await listen({ headers: bearer(secret), query })
    const { rejectionId, accountId, keyId, receivedAt, error, message } = rejected()
    const counted = { rejectionId, accountId, keyId, receivedAt, error, message, count: 5 }
    await store.saveRejections([counted, rejected({ deviceId: 'Tug' }), rejected()])
    await eventually(() => source.of('rejection').length === 1)
    await store.saveRejections([rejected({ message: 'last' })])
    await eventually(() => source.of('rejection').length === 2)
    expect(source.of('rejection').map(({ data }) => data['deviceId'])).toEqual(['tug', 'tug'])
  })

  test('rejections on the stream are for operators and admin keys, not for keys that read positions', async () => {
    const { createKey, open } = await start()
    for (const deviceIds of [undefined, ['tug']]) {
      const scopes = ['positions:read', ...(deviceIds ? (['admin'] as const) : [])] as const
      const { secret } = await createKey({ scopes, ...(deviceIds && { deviceIds }) })
      for (const query of ['?events=rejection', '?events=position,rejection']) {
        const source = await open({ headers: bearer(secret), query })
        expect(source.status).toBe(403)
      }
      expect((await open({ headers: bearer(secret) })).status).toBe(200)
    }
  })

  test('rejections are queried only while a reader wants them', async () => {
    let looked = 0
    const { createKey, listen } = await start({
      wrapStore: (store) => ({
        ...store,
        async pageRejections(query) {
          looked += 1
          return store.pageRejections(query)
        },
      }),
    })
    const { secret } = await createKey()
    await listen()
    const source = await listen({ headers: bearer(secret), ...REJECTIONS })
    await eventually(() => looked > 3)
    source.close()
    let before = -1
    await eventually(() => before === (before = looked), { everyMs: 100 })
    expect(looked).toBeGreaterThan(3)
  })
})

describe('erasures on the stream', () => {
  test('erasures on the stream have an id, and reach readers who chose them and may see the device', async () => {
    const { createKey, erase, listen, project, eventLog } = await start()
    project()
    const { secret } = await createKey({ scopes: ['positions:read'], deviceIds: ['ferry'] })
    const query = '?events=device-erased'
    const all = await listen({ query })
    const bound = await listen({ query, headers: bearer(secret) })
    const one = await listen({ query: `${query}&deviceId=ferry` })
    const usual = await listen()
    await erase('tug')
    await erase('ferry')
    await eventLog.append([positionReported({ deviceId: 'ferry' })])
    await eventually(() => bound.events.length === 1 && one.events.length === 1)
    await eventually(() => all.events.length === 2)
    expect(all.events.map(({ event, data, hasId }) => ({ event, data, hasId }))).toEqual([
      { event: 'device-erased', data: { deviceId: 'tug' }, hasId: true },
      { event: 'device-erased', data: { deviceId: 'ferry' }, hasId: true },
    ])
    expect(bound.events.map(({ data }) => data)).toEqual([{ deviceId: 'ferry' }])
    await eventually(() => usual.of('position').length === 1)
    expect(usual.of('device-erased')).toEqual([])
  })

  test.each([
    ['from the ring', 1_000],
    ['from the log', 2],
  ])(
    'erasures on the stream are replayed %s to a resuming reader, in order',
    async (_, ringEntries) => {
      const { erase, eventLog, listen, project } = await start({ stream: { ringEntries } })
      project()
      const query = '?events=position,device-erased'
      const first = await listen({ query })
      const lastEventId = first.lastEventId()
      first.close()
      await eventLog.append([positionReported({ deviceId: 'a' })])
      await erase('tug')
      await eventLog.append([positionReported({ deviceId: 'b' })])
      await erase('ferry')
      await eventLog.append([positionReported({ deviceId: 'c' })])
      const again = await listen({ query, lastEventId })
      await eventually(() => again.events.length === 5)
      expect(again.events.map(({ data }) => data['deviceId'])).toEqual([
        ...['a', 'tug', 'b', 'ferry', 'c'],
      ])
      const resumed = await listen({ query, lastEventId: again.events[2]?.id ?? '' })
      await eventually(() => resumed.events.length === 2)
      expect(resumed.events.map(({ data }) => data['deviceId'])).toEqual(['ferry', 'c'])
    },
  )
})

describe('choices of events', () => {
  test('a reader that chooses events gets no others', async () => {
    const { eventLog, listen, project } = await start()
    project()
    const statuses = await listen({ query: '?events=device-status' })
    const positions = await listen({ query: '?events=position' })
    await eventLog.append([positionReported({ receivedAt: harness.clock.now() })])
    await eventually(() => statuses.events.length > 0 && positions.events.length > 0)
    expect(new Set(statuses.events.map(({ event }) => event))).toEqual(new Set(['device-status']))
    expect(new Set(positions.events.map(({ event }) => event))).toEqual(new Set(['position']))
  })

  test.each(['', 'positions', 'position,', 'position,position', 'gap', 'Position', 'position%00'])(
    'the events parameter %j is rejected with a 400 that names it',
    async (events) => {
      const { open } = await start()
      const source = await open({ query: `?events=${events}` })
      expect(source.status).toBe(400)
      expect(await source.error()).toMatchObject({ details: [{ field: 'events' }] })
    },
  )
})
