import { afterEach, expect, test } from '@jest/globals'
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

/** More than the buffers of the operating system hold. */
const MANY = 24_000
/** About 900 bytes an event. */
const DEVICE = '€'.repeat(128)

async function appendMany() {
  const events = Array.from({ length: MANY }, () => positionReported({ deviceId: DEVICE }))
  for (let at = 0; at < MANY; at += 500) await harness.eventLog.append(events.slice(at, at + 500))
  return events.map(({ recordId }) => recordId)
}

test('a reader that is too slow is cut off, and loses nothing when it resumes', async () => {
  const { listen, metric } = await start({ stream: { ringEntries: 600 } })
  const slow = await listen()
  slow.pause()
  const recordIds = await appendMany()
  const probe = await listen()
  expect(probe.status).toBe(200)
  const made = await metric('gps_stream_events_total')
  // The rendered data is in the operating system's buffers: the process renders no more.
  expect(made).toBeLessThan(MANY / 2)

  slow.resume()
  await eventually(() => slow.hasEnded())
  expect(slow.events.at(-1)).toMatchObject({ event: 'lagging' })
  expect(slow.events.at(-1)?.data['reason']).toMatch(
    /this connection is too slow: reconnect with the last id/,
  )
  const taken = slow.of('position').length
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(MANY)
  expect(await metric('gps_stream_cut_off_total')).toBe(1)

  const again = await listen({ lastEventId: slow.lastEventId() })
  await eventually(() => again.of('position').length >= MANY - taken)
  expect([...slow.recordIds(), ...again.recordIds()]).toEqual(recordIds)
})

test('a reader that reads nothing at all loses its slot', async () => {
  const { listen, metric } = await start({ stream: { ringEntries: 600, stalledMs: 200 } })
  const stuck = await listen()
  stuck.pause()
  await appendMany()
  await eventually(async () => (await metric('gps_stream_readers')) === 0)
  expect(await metric('gps_stream_cut_off_total')).toBe(1)
})

test('readers of the past that read nothing give up their slots to other accounts, and soon to their own account', async () => {
  const { listen, open, metric, createKey } = await start({
    stream: {
      ringEntries: 600,
      stalledCatchingUpMs: 4_000,
      catchingUp: 3,
      catchingUpPerAccount: 2,
      heartbeatMs: 20,
    },
  })
  const live = await listen({ query: '?deviceId=silent' })
  const begin = live.lastEventId()
  await appendMany()
  await eventually(() => live.lastEventId() !== begin)
  const statuses: (number | undefined)[] = []
  for (let reader = 0; reader < 3; reader += 1) {
    const stuck = await open({ lastEventId: begin })
    stuck.pause()
    statuses.push(stuck.status)
  }
  expect(statuses).toEqual([200, 200, 503])
  const { secret } = await createKey({ accountId: 'acc-2', scopes: ['positions:read'] })
  const other = await open({ lastEventId: begin, headers: bearer(secret) })
  expect(other.status).toBe(200)
  await eventually(async () => (await metric('gps_stream_cut_off_total')) === 2)
  await eventually(async () => (await open({ lastEventId: begin })).status === 200)
})

test('a reader of the past that reads a little now and then keeps its slot, unlike readers that read nothing', async () => {
  const { listen, open, metric } = await start({
    stream: { ringEntries: 600, stalledCatchingUpMs: 2_000 },
  })
  const live = await listen({ query: '?deviceId=silent' })
  const begin = live.lastEventId()
  await appendMany()
  const slow = await open({ lastEventId: begin })
  slow.pause()
  // The kernel accepts more of the stream only after many seconds of reading.
  const taking = setInterval(() => slow.take(50_000), 300)
  for (let cutOff = 1; cutOff <= 2; cutOff += 1) {
    const stuck = await open({ lastEventId: begin })
    stuck.pause()
    await eventually(async () => (await metric('gps_stream_cut_off_total')) === cutOff)
  }
  clearInterval(taking)
  slow.resume()
  await eventually(() => slow.hasEnded() || slow.events.length === MANY)
  expect(slow.events.length).toBe(MANY)
})

test('readers that keep up do not wait for one that does not', async () => {
  const { listen } = await start({ stream: { ringEntries: MANY, ringBytes: 2 ** 27 } })
  const slow = await listen()
  slow.pause()
  const quick = await listen()
  await appendMany()
  await eventually(() => quick.events.length === MANY)
  slow.resume()
  await eventually(() => slow.events.length === MANY)
})
