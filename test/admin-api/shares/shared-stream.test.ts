import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { closeAfterwards } from '../../closing.ts'
import { positionReported } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { openEventSource } from '../stream/event-source.ts'
import { startStreaming, type StreamHarness } from '../stream/stream-harness.ts'

const HOUR = 3_600_000

let harness: StreamHarness

type Made = { readonly id: string; readonly token: string }

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  harness.project()
  const now = harness.clock.now()
  const events = ['tug', 'ferry', 'other'].map((deviceId) =>
    positionReported({ deviceId, timestamp: now, receivedAt: now }),
  )
  await harness.eventLog.append(events)
  const headers = await harness.createSession()
  await eventually(async () => (await harness.store.pageDevices(ALL)).length === 3)
  return headers
}

const ALL = { accountId: 'acc-1', limit: 9 }

async function share(headers: Record<string, string>, fields: object = {}): Promise<Made> {
  const body = {
    name: 'Ferries',
    deviceIds: ['tug', 'ferry'],
    expiresAt: new Date(harness.clock.now() + HOUR),
    ...fields,
  }
  return (await harness.api('POST', '/shares', { headers, body })).body.data as unknown as Made
}

async function open(token: string, more: Record<string, string> = {}) {
  const source = await openEventSource(`${harness.url}/api/v1/shared/stream`, {
    ...bearer(token),
    ...more,
  })
  closeAfterwards(() => source.close())
  return source
}

async function listen(token: string) {
  const source = await open(token)
  await eventually(() => source.heartbeats.length > 0)
  // Its offset is known once the feed has started.
  await eventually(() => source.status === 200)
  return source
}

test('a share’s stream shows its devices as the share does, without ids', async () => {
  const headers = await start()
  const { token } = await share(headers)
  const source = await listen(token)
  const now = harness.clock.now()
  const place = { latitude: 9, longitude: 8 }
  await harness.eventLog.append([
    positionReported({ deviceId: 'other', timestamp: now, receivedAt: now }),
    positionReported({ deviceId: 'tug', timestamp: now - 1, receivedAt: now }),
    // Its clock is ahead, and the report was received earlier and spooled.
    positionReported({ deviceId: 'tug', timestamp: now + HOUR, receivedAt: now - 1 }),
    positionReported({ deviceId: 'tug', accountId: 'acc-2', timestamp: now, receivedAt: now }),
    positionReported({ deviceId: 'ferry', timestamp: now, receivedAt: now, ...place, speed: 7 }),
  ])
  await eventually(() => source.events.length > 0)
  const [, ferry] = (await harness.api('GET', '/shared', { headers: bearer(token) })).body.data
    ?.items ?? [undefined, undefined]
  expect(source.events.map(({ event, data, hasId }) => ({ event, data, hasId }))).toEqual([
    {
      event: 'position',
      data: {
        ref: ferry?.['ref'],
        name: 'Device 2',
        ...place,
        timestamp: new Date(now).toISOString(),
        place: { name: 'Keffi', country: 'NG', distanceMetres: expect.any(Number) },
        speed: 7,
      },
      hasId: false,
    },
  ])
  expect(source.heartbeats.some(({ hasId }) => hasId)).toBe(false)
})

test('an event id is ignored: a share’s stream cannot be resumed', async () => {
  const headers = await start()
  const { token } = await share(headers)
  const usual = await harness.listen()
  const source = await open(token, { 'Last-Event-ID': usual.lastEventId() })
  expect(source.status).toBe(200)
})

type Ending = (share: Made, headers: Record<string, string>) => Promise<unknown>

const ENDINGS: readonly (readonly [string, Ending])[] = [
  ['is revoked', ({ id }, headers) => harness.api('DELETE', `/shares/${id}`, { headers })],
  ['expires', async () => (harness.clock.time += HOUR)],
  [
    'loses a device by its erasure',
    (_, headers) => harness.api('DELETE', '/devices/tug', { headers }),
  ],
  ['loses a device by an erasure whose process then ended', () => harness.erase('tug')],
  [
    'is of a suspended account',
    () => harness.store.suspendAccount({ accountId: 'acc-1', suspended: true }),
  ],
]

test.each(ENDINGS)('the stream ends when its share %s', async (_, end) => {
  const headers = await start()
  const made = await share(headers)
  const source = await listen(made.token)
  const other = await listen((await share(headers, { deviceIds: ['other'] })).token)
  await end(made, headers)
  await eventually(() => source.hasEnded())
  if (end === ENDINGS[0]?.[1] || end === ENDINGS[2]?.[1]) expect(other.hasEnded()).toBe(false)
})

test('links of an account share its stream limit for links, and take no streams from its operators', async () => {
  const headers = await start({ stream: { readersPerAccount: 3, readersPerCaller: 2 } })
  const [one, other] = [await share(headers), await share(headers)]
  const sources = [await open(one.token), await open(other.token), await open(one.token)]
  expect(sources.map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await open(one.token)).status).toBe(429)
  expect((await open(other.token)).status).toBe(429)
  expect((await harness.open()).status).toBe(200)
  sources[0]?.close()
  await eventually(async () => (await open(other.token)).status === 200)
})

test('links of all accounts take at most half of a process’s streams', async () => {
  const headers = await start({ stream: { readers: 4 } })
  await harness.createOperator({ id: 'far', accountId: 'acc-2', role: 'admin' })
  await harness.eventLog.append([positionReported({ deviceId: 'far', accountId: 'acc-2' })])
  await eventually(async () => harness.store.findDevice({ accountId: 'acc-2', deviceId: 'far' }))
  const far = await harness.createSession('far')
  const [here, there] = [await share(headers), await share(far, { deviceIds: ['far'] })]
  expect((await open(here.token)).status).toBe(200)
  expect((await open(there.token)).status).toBe(200)
  expect((await open(here.token)).status).toBe(429)
  expect((await open(there.token)).status).toBe(429)
  for (let n = 0; n < 2; n += 1) expect((await harness.open()).status).toBe(200)
  expect((await harness.open()).status).toBe(429)
})
