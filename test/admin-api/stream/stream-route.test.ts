/** @node all */
import { afterEach, describe, expect, test } from '@jest/globals'
import { readMark } from '../../../event-log/reading/mark.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  return harness
}

afterEach(() => harness.close())

describe('events of the stream', () => {
  test('a position is sent as its record, with an id', async () => {
    const { eventLog, listen, store, request, createKey } = await start()
    const { secret } = await createKey()
    const source = await listen()
    const event = positionReported({
      speed: 3.5,
      battery: 0,
      heading: 359.9,
      attributes: { alarm: 'sos', odometer: 12.5 },
    })
    await eventLog.append([event])
    await eventually(() => source.of('position').length === 1)
    harness.project()
    await eventually(() => store.findPosition({ accountId: 'acc-1', recordId: event.recordId }))
    const path = `/api/v1/positions/${event.recordId}`
    const { body } = await request('GET', path, { headers: bearer(secret) })
    expect(source.events[0]?.data).toEqual(body.data)
    expect(source.events[0]?.hasId).toBe(true)
  })

  test('imported positions are sent neither live nor from the past', async () => {
    const { eventLog, listen } = await start({ stream: { ringEntries: 2 } })
    const source = await listen()
    const live: string[] = []
    for (let round = 0; round < 5; round += 1) {
      const event = positionReported()
      const imported = Array.from({ length: 9 }, () => positionReported({ imported: true }))
      await eventLog.append([...imported, event])
      live.push(event.recordId)
      await eventually(() => source.of('position').length > round)
    }
    const resumed = await listen({ lastEventId: source.events[0]?.id ?? '' })
    await eventually(() => resumed.of('position').length >= 4)
    expect(source.recordIds()).toEqual(live)
    expect(resumed.recordIds()).toEqual(live.slice(1))
  })

  test('positions are sent in the order of the log, each once', async () => {
    const { eventLog, listen } = await start()
    const source = await listen()
    const events = Array.from({ length: 3_000 }, (_, index) =>
      positionReported({ deviceId: `tracker-${index % 7}` }),
    )
    for (let at = 0; at < events.length; at += 100)
      await eventLog.append(events.slice(at, at + 100))
    await eventually(() => source.events.length >= events.length)
    expect(source.recordIds()).toEqual(events.map(({ recordId }) => recordId))
  })

  test('a new reader gets no events appended before it connected', async () => {
    const { eventLog, listen } = await start()
    await eventLog.append([positionReported()])
    const first = await listen()
    const [second, third] = [positionReported(), positionReported()]
    await eventLog.append([second])
    await eventually(() => first.events.length === 1)
    const later = await listen()
    await eventLog.append([third])
    await eventually(() => first.events.length === 2 && later.events.length === 1)
    expect(first.recordIds()).toEqual([second.recordId, third.recordId])
    expect(later.recordIds()).toEqual([third.recordId])
  })

  test('events in quick succession are sent together', async () => {
    const gatherMs = 500
    const { eventLog, listen } = await start({ stream: { gatherMs, heartbeatMs: 60_000 } })
    const source = await listen()
    /** Appends one event, then five. Returns how long that took, and the pieces in which the five came. */
    const appendSix = async () => {
      const known = source.events.length
      await eventLog.append([positionReported()])
      const begun = performance.now()
      await eventually(() => source.events.length === known + 1)
      const before = source.pieces()
      for (let more = 0; more < 5; more += 1) await eventLog.append([positionReported()])
      const tookMs = performance.now() - begun
      await eventually(() => source.events.length === known + 6)
      return { tookMs, pieces: source.pieces() - before }
    }
    // On a busy machine appending the five may take longer than the gathering time.
    let round = await appendSix()
    while (round.tookMs >= gatherMs) round = await appendSix()
    expect(round.pieces).toBe(1)
  })

  test('a device id that looks like stream syntax stays text in the data', async () => {
    const { eventLog, listen } = await start()
    const source = await listen()
    const deviceId = 'a\u2028b"\\ data: x <script>'
    await eventLog.append([positionReported({ deviceId })])
    await eventually(() => source.events.length === 1)
    expect(source.events[0]?.data['deviceId']).toBe(deviceId)
  })

  test('the first bytes are sent immediately: the retry delay and the reader’s mark', async () => {
    const { listen } = await start()
    const source = await listen()
    expect(source.status).toBe(200)
    expect(source.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(source.retry()).toBe(2_000)
    expect(source.heartbeats).toEqual([
      { event: 'heartbeat', id: source.lastEventId(), hasId: true, data: {} },
    ])
  })

  test('heartbeats advance the mark of a reader that gets no events', async () => {
    const { eventLog, listen, erase } = await start({ stream: { heartbeatMs: 20 } })
    const source = await listen({ query: '?deviceId=silent' })
    await eventLog.append([positionReported(), positionReported()])
    await eventually(() => readMark(source.lastEventId())?.offsets[0] === 2)
    await erase('another')
    await eventually(() => readMark(source.lastEventId())?.offsets[0] === 3)
    expect(source.heartbeats.length).toBeGreaterThan(1)
    const again = await listen({ lastEventId: source.lastEventId() })
    const event = positionReported()
    await eventLog.append([event])
    await eventually(() => again.events.length > 0)
    expect(again.recordIds()).toEqual([event.recordId])
    expect(source.events).toEqual([])
  })

  test('the metrics count readers and events', async () => {
    const { eventLog, listen, metric } = await start()
    const source = await listen()
    expect(await metric('gps_stream_readers')).toBe(1)
    await eventLog.append([positionReported(), positionReported()])
    await eventually(() => source.events.length === 2)
    expect(await metric('gps_stream_events_total')).toBe(2)
    source.close()
    await eventually(async () => (await metric('gps_stream_readers')) === 0)
  })
})

describe('access to the stream', () => {
  test('each account has its own positions only', async () => {
    const { eventLog, listen, createKey } = await start()
    const { secret } = await createKey({ accountId: 'acc-2', scopes: ['positions:read'] })
    const ours = await listen()
    const theirs = await listen({ headers: bearer(secret) })
    const events = [1, 2, 3, 4].map((n) => positionReported({ accountId: `acc-${(n % 2) + 1}` }))
    await eventLog.append(events)
    await eventually(() => ours.events.length === 2 && theirs.events.length === 2)
    const of = (accountId: string) =>
      events.filter((event) => event.accountId === accountId).map(({ recordId }) => recordId)
    expect(ours.recordIds()).toEqual(of('acc-1'))
    expect(theirs.recordIds()).toEqual(of('acc-2'))
  })

  test('an event id of another account reveals nothing about it', async () => {
    const { eventLog, listen, createKey } = await start({ stream: { ringEntries: 4 } })
    const { secret } = await createKey({ accountId: 'acc-2', scopes: ['positions:read'] })
    const begin = (await listen()).lastEventId()
    await eventLog.append(Array.from({ length: 20 }, () => positionReported()))
    const theirs = await listen({ headers: bearer(secret), lastEventId: begin })
    const own = positionReported({ accountId: 'acc-2' })
    await eventLog.append([own])
    await eventually(() => theirs.events.length > 0)
    expect(theirs.recordIds()).toEqual([own.recordId])
  })

  test('a filter matches one device, byte for byte', async () => {
    const { eventLog, listen } = await start()
    const source = await listen({ query: '?deviceId=caf%C3%A9' })
    const ids = ['cafe\u0301', 'CAFÉ', 'café', 'caf', 'café ']
    const events = ids.map((deviceId) => positionReported({ deviceId }))
    const last = positionReported({ deviceId: 'café' })
    await eventLog.append([...events, last])
    await eventually(() => source.events.length === 2)
    expect(source.recordIds()).toEqual([events[2]?.recordId, last.recordId])
  })
})

describe('refused requests', () => {
  test('an invalid Last-Event-ID is a 400 that names it', async () => {
    const { open, listen } = await start()
    const good = (await listen()).lastEventId()
    const of = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const bad = [
      'x',
      good.slice(0, -1),
      `${good}=`,
      `${good}, ${good}`,
      good.toUpperCase(),
      of(null),
      of({ v: 1, check: '0', offsets: { 0: 1 } }),
      of({ v: 1, check: '0', offsets: { $gt: 1 } }),
      'A'.repeat(13_000),
    ]
    for (const lastEventId of bad) {
      const source = await open({ lastEventId })
      expect([lastEventId, source.status]).toEqual([lastEventId, 400])
      expect(await source.error()).toMatchObject({
        error: 'INVALID_PARAMS',
        details: [{ field: 'Last-Event-ID', message: expect.stringContaining('Last-Event-ID') }],
      })
    }
  })

  test('readers beyond an account’s limit get a 429 until one disconnects', async () => {
    const { open, listen, createKey } = await start({ stream: { readersPerAccount: 2 } })
    const { secret } = await createKey({ accountId: 'acc-2' })
    const first = await listen()
    await listen()
    const refused = await open()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(await refused.error()).toMatchObject({ error: 'RATE_LIMITED' })
    expect((await open({ headers: bearer(secret) })).status).toBe(200)
    first.close()
    await eventually(async () => (await open()).status === 200)
  })

  test('readers beyond the limit of a key or session get a 429; others of the account are accepted', async () => {
    const { open, createKey, createSession } = await start({ stream: { readersPerCaller: 2 } })
    const { secret } = await createKey()
    const session = await createSession()
    for (const headers of [bearer(secret), session]) {
      expect((await open({ headers })).status).toBe(200)
      expect((await open({ headers })).status).toBe(200)
      expect((await open({ headers })).status).toBe(429)
    }
  })

  test('readers beyond the limit of the process get a 429', async () => {
    const { open, listen, createKey } = await start({ stream: { readers: 1 } })
    const { secret } = await createKey({ accountId: 'acc-2' })
    const first = await listen()
    expect((await open({ headers: bearer(secret) })).status).toBe(429)
    first.close()
    await eventually(async () => (await open({ headers: bearer(secret) })).status === 200)
  })

  test('HEAD responds with the headers and does not count as a reader', async () => {
    const { api, createKey, metric } = await start({ stream: { readers: 1 } })
    const { secret } = await createKey()
    for (let time = 0; time < 3; time += 1) {
      const answer = await api('HEAD', '/stream', { headers: bearer(secret) })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
    }
    expect(await metric('gps_stream_readers')).toBe(0)
  })
})
