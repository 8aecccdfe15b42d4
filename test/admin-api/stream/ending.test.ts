/** @node all */
import { afterEach, expect, jest, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { STREAM_OPTIONS } from '../../../admin-api/stream/options.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { positionReported, T0 } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  return harness
}

afterEach(async () => {
  jest.useRealTimers()
  await harness.close()
})

const MINUTE_MS = 60_000

type Ending = (harness: StreamHarness, keyId: string) => Promise<unknown>

const ENDINGS: readonly (readonly [string, 'key' | 'session', Ending])[] = [
  [
    'its key is revoked',
    'key',
    ({ store }, keyId) => store.revokeKey({ accountId: 'acc-1', keyId, revokedAt: T0 }),
  ],
  ['its key expires', 'key', async ({ clock }) => (clock.time += 2 * MINUTE_MS)],
  ['the account of its key is suspended', 'key', suspend],
  ['the account of its session is suspended', 'session', suspend],
  [
    'the operator signs out everywhere',
    'session',
    ({ store }) => store.endSessions({ operatorId: 'op-1' }),
  ],
  [
    'nobody has used its session for too long',
    'session',
    async ({ clock }) => {
      clock.time += 30 * MINUTE_MS
    },
  ],
  [
    'the operator is removed',
    'session',
    async ({ store, operator }) => {
      await store.createOperator({ ...operator, id: 'op-2', email: 'other@example.org' })
      expect(await store.deleteOperator({ accountId: 'acc-1', operatorId: 'op-1' })).toBe('deleted')
    },
  ],
]

test.each(ENDINGS)('a stream ends when %s', async (_, by, end) => {
  await start()
  const { clock, createKey, createSession, listen, metric } = harness
  const key = await createKey({
    scopes: ['positions:read'],
    expiresAt: clock.now() + MINUTE_MS,
  })
  const headers = by === 'key' ? bearer(key.secret) : { Cookie: (await createSession()).Cookie }
  const source = await listen({ headers })
  // Another stream that continues.
  const { secret } = await createKey({ accountId: 'acc-2' })
  const other = await listen({ headers: bearer(secret) })
  await end(harness, key.id)
  await eventually(() => source.hasEnded())
  expect(other.hasEnded()).toBe(false)
  await eventually(async () => (await metric('gps_stream_readers')) === 1)
})

test('streams of a revoked key end within 5 s, whenever they were opened', async () => {
  const { checkEveryMs, sharedCheckMs } = STREAM_OPTIONS
  // A reader that reads nothing is cut off another half second later.
  expect(checkEveryMs + sharedCheckMs).toBeLessThanOrEqual(5_000 - 500)
  // It shares the first check's result, until that is `sharedCheckMs` old.
  fakeTimers('performance')
  const { createKey, listen, store } = await start({ stream: { sharedCheckMs } })
  const { id, secret } = await createKey({ scopes: ['positions:read'] })
  const first = await listen({ headers: bearer(secret) })
  jest.advanceTimersByTime(sharedCheckMs * 0.8)
  // It is checked when opened, and shares that result.
  const second = await listen({ headers: bearer(secret) })
  await store.revokeKey({ accountId: 'acc-1', keyId: id, revokedAt: T0 })
  jest.advanceTimersByTime(sharedCheckMs * 0.2 + 10)
  await eventually(() => first.hasEnded() && second.hasEnded())
})

test('an open stream neither extends a session nor counts as use of a key', async () => {
  let checks = 0
  const { clock, createKey, createSession, listen, store } = await start({
    wrapStore: (store) => ({
      ...store,
      async findSession(tokenHash) {
        checks += 1
        return store.findSession(tokenHash)
      },
    }),
  })
  const { id, secret } = await createKey({ lastUsedAt: T0 })
  const first = await listen({ headers: bearer(secret) })
  const second = await listen({ headers: { Cookie: (await createSession()).Cookie } })
  const used = async () => (await store.findKey({ accountId: 'acc-1', keyId: id }))?.lastUsedAt
  await eventually(async () => (await used()) === clock.now())
  const before = clock.now()
  clock.time += 29 * MINUTE_MS
  const checked = checks
  await eventually(() => checks > checked + 5)
  expect(first.hasEnded() || second.hasEnded()).toBe(false)
  expect(await used()).toBe(before)
  clock.time += MINUTE_MS
  await eventually(() => second.hasEnded())
  expect(first.hasEnded()).toBe(false)
})

test('an unavailable store ends no stream', async () => {
  let failures = 0
  let away = false
  const { eventLog, listen, logged } = await start({
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name: keyof Store) {
          const method = Reflect.get(target, name) as (...args: unknown[]) => unknown
          return (...args: unknown[]) => {
            if (!away) return method(...args)
            failures += 1
            return Promise.reject(new DependencyError('the store is away', { retriable: true }))
          }
        },
      }),
  })
  const source = await listen()
  away = true
  await eventually(() => failures > 20)
  await eventLog.append([positionReported()])
  await eventually(() => source.events.length === 1)
  expect(source.hasEnded()).toBe(false)
  away = false
  expect(logged.filter((line) => line.includes('"level":50'))).toEqual([])
})

/** Twice what the system's buffers hold of an unread response. */
const EVENTS = 16_000

test('all streams end when the process stops; streams that nobody reads end soon after', async () => {
  const { eventLog, listen, metric, open, stopping } = await start({
    stream: { ringEntries: 2 * EVENTS },
  })
  const reading = countTails(eventLog)
  const sources = await Promise.all([listen(), listen(), listen({ query: '?deviceId=a' })])
  const stuck = await listen()
  stuck.pause()
  const events = Array.from({ length: EVENTS }, () =>
    positionReported({ deviceId: '€'.repeat(128) }),
  )
  for (let at = 0; at < EVENTS; at += 500) await eventLog.append(events.slice(at, at + 500))
  // How long their unread events take depends on the machine.
  await eventually(() => sources.slice(0, 2).every((source) => source.events.length === EVENTS), {
    withinMs: 30_000,
  })
  expect(await metric('gps_stream_readers')).toBe(4)
  fakeTimers('setTimeout')
  stopping.abort()
  await eventually(() => sources.every((source) => source.hasEnded()))
  await eventually(async () => (await metric('gps_stream_readers')) === 0)
  await eventually(() => reading() === 0)
  expect(sources.every((source) => source.isComplete())).toBe(true)
  const refused = await open()
  expect(refused.status).toBe(503)
  const { message } = await refused.error()
  expect(message).toBe('the service is stopping, please connect again')
  jest.advanceTimersByTime(500)
  stuck.resume()
  await eventually(() => stuck.hasEnded())
  expect(stuck.isComplete()).toBe(false)
})

test('the log is read only while a stream is open', async () => {
  const { eventLog, listen } = await start({ stream: { lingersMs: 20 } })
  const reading = countTails(eventLog)
  const sources = await Promise.all([listen(), listen(), listen()])
  await eventLog.append([positionReported()])
  await eventually(() => sources.every(({ events }) => events.length === 1))
  expect(reading()).toBe(1)
  for (const source of sources) source.close()
  await eventually(() => reading() === 0)
  const again = await listen()
  await eventLog.append([positionReported()])
  await eventually(() => again.events.length === 1)
})

test('an unavailable log ends no stream and loses nothing', async () => {
  const { eventLog, open } = await start({
    stream: { retryMs: 10, heartbeatMs: 20, beginsWithinMs: 20 },
  })
  const extent = eventLog.extent.bind(eventLog)
  const tail = eventLog.tail.bind(eventLog)
  let away = true
  const check = () => {
    if (away) throw new DependencyError('the log is away', { retriable: true })
  }
  eventLog.extent = async () => {
    check()
    return extent()
  }
  eventLog.tail = async function* (options) {
    check()
    for await (const item of tail(options)) {
      check()
      yield item
    }
  }
  const source = await open()
  await eventually(() => source.heartbeats.length > 3)
  expect(source.lastEventId()).toBe('')
  away = false
  await eventually(() => source.lastEventId() !== '')
  const events = [positionReported(), positionReported(), positionReported()]
  await eventLog.append(events.slice(0, 1))
  await eventually(() => source.events.length === 1)
  away = true
  await eventLog.append(events.slice(1, 2))
  await eventLog.append(events.slice(2))
  const beats = source.heartbeats.length
  await eventually(() => source.heartbeats.length > beats + 3)
  away = false
  await eventually(() => source.events.length === 3)
  expect(source.recordIds()).toEqual(events.map(({ recordId }) => recordId))
})

/** The number of live readers of the log. */
function countTails(eventLog: EventLog): () => number {
  let reading = 0
  const tail = eventLog.tail.bind(eventLog)
  eventLog.tail = async function* (options) {
    reading += 1
    try {
      yield* tail(options)
    } finally {
      reading -= 1
    }
  }
  return () => reading
}

function suspend({ store }: StreamHarness) {
  return store.suspendAccount({ accountId: 'acc-1', suspended: true })
}
