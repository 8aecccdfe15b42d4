import type { ServerResponse } from 'node:http'
import { beforeEach, expect, test } from '@jest/globals'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { eventually } from '../eventually.ts'
import { T0 } from '../samples.ts'
import { startDeliveries, startReceiver, type Deliveries } from './harness.ts'

const HOUR = 3_600_000
const MIGRATED = JSON.stringify({
  ok: false,
  error_code: 400,
  description: 'Bad Request: group chat was upgraded to a supergroup chat',
  parameters: { migrate_to_chat_id: -1001000000077 },
})
const SOS = { type: 'alarm.reported', alarm: 'sos', late: true } as Partial<DeviceFact>

let deliveries: Deliveries
beforeEach(async () => {
  deliveries = await startDeliveries()
})

const saying = (status: number, body: string) => (response: ServerResponse) => {
  response.writeHead(status).end(body)
}
const progressOf = async (id: string) => (await deliveries.find(id)).progress
const TEST = 'This is a test: notifications arrive here.'

/** Advances through a subscription's pauses until it has made this many attempts. */
async function passAttempts(id: string, count: number): Promise<void> {
  for (;;) {
    const { deliveries: made, attempt } = await progressOf(id)
    if (made >= count) return
    if (attempt !== undefined) {
      await deliveries.idle()
      await deliveries.pass(attempt.nextAt - deliveries.clock.time)
    }
    await eventually(async () => (await progressOf(id)).deliveries > made)
  }
}

test.each<[string, number, string, string]>([
  [
    'a group that became a supergroup',
    400,
    MIGRATED,
    'status 400: Bad Request: group chat was upgraded to a supergroup chat; migrate_to_chat_id is -1001000000077: enter it as chatId',
  ],
  ['an archived channel', 404, 'no_service', 'status 404: no_service'],
  [
    'a bot that was thrown out',
    403,
    '{"description":"Forbidden: bot was kicked"}',
    'status 403: Forbidden: bot was kicked',
  ],
  ['a wrong token', 422, '{"success":false,"error":"Invalid token"}', 'status 422: Invalid token'],
  ['a page', 413, '<html>too large</html>', 'status 413'],
])(
  'a chat that rejects everything, such as %s, is failing with its error message, and nothing is set aside',
  async (_what, status, body, lastError) => {
    let isMended = false
    const receiver = await startReceiver(() => (isMended ? 200 : saying(status, body)))
    await deliveries.appendFacts(2)
    const { id } = await deliveries.subscribe({ kind: 'slack', url: receiver.url })
    await deliveries.startDeliverer().refresh()
    await passAttempts(id, 5)
    const progress = await progressOf(id)
    expect(progress).toMatchObject({ lastError, setAside: [], attempt: { failures: 5 } })
    expect(progress.failingSince).toBeDefined()
    isMended = true
    await passAttempts(id, 7)
    const texts = receiver.received
      .slice(-2)
      .map(({ json }) => (json as unknown as { text: string }).text)
    expect(texts).not.toContain(TEST)
    expect(await progressOf(id)).toMatchObject({ setAside: [] })
    expect(await progressOf(id)).not.toHaveProperty('failingSince')
  },
)

test.each([400, 413])(
  'an item rejected with %d, but no other, is set aside after three attempts and a test',
  async (status) => {
    const receiver = await startReceiver(({ body }) => (body.includes('bad') ? status : 200))
    const [bad] = await deliveries.appendFacts(1, { deviceId: 'bad' })
    await deliveries.appendFacts(1, { deviceId: 'van' })
    const { id } = await deliveries.subscribe({ kind: 'ntfy', url: receiver.url })
    await deliveries.startDeliverer().refresh()
    await passAttempts(id, 4)
    const { setAside, ...progress } = await progressOf(id)
    expect(setAside).toMatchObject([{ id: bad, status }])
    expect(progress).not.toHaveProperty('failingSince')
    const bodies = receiver.received.map(({ body }) => body.replace(/ \(.*/, ''))
    const [refused, sent] = ['bad reported for the first time', 'van reported for the first time']
    expect(bodies).toEqual([refused, refused, refused, TEST, sent])
    expect(deliveries.attempts).toHaveLength(4)
  },
)

test('a chat gets the pause it asks for, including fractions', async () => {
  const receiver = await startReceiver(() =>
    saying(429, '{"message":"slow down","retry_after":64.57}'),
  )
  await deliveries.appendFacts(1)
  const { id } = await deliveries.subscribe({ kind: 'slack', url: receiver.url })
  await deliveries.startDeliverer().refresh()
  await passAttempts(id, 1)
  const { attempt, lastError } = await progressOf(id)
  expect([attempt?.nextAt, lastError]).toEqual([
    deliveries.clock.time + 64_570,
    'status 429: slow down',
  ])
})

test('late alarms reach a chat with their true time, in the zone of the subscription', async () => {
  const receiver = await startReceiver()
  const at = deliveries.clock.time - 2 * HOUR
  await deliveries.appendFacts(1, { ...SOS, at })
  await deliveries.appendFacts(1, { type: 'device.offline', at })
  const hours = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '24:00', zone: 'Asia/Tokyo' }
  const target = { kind: 'ntfy', url: receiver.url } as const
  await deliveries.subscribe(target, { zone: 'Europe/Berlin', hours })
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 2)
  const [sos, silence] = receiver.received.map(({ body }) => body)
  // The clock is at 2026-01-01 00:00 UTC.
  expect(sos).toMatch(/^van-1 sent an SOS.* \(2025-12-31 23:00 Europe\/Berlin\)$/)
  expect(silence).toMatch(/\(2025-12-31 23:00 Europe\/Berlin\)$/)
})

test.each([
  [{ zone: 'Asia/Tokyo' }, '2026-01-01 09:00 Asia/Tokyo'],
  [{}, `2026-01-01 \\d\\d:\\d\\d ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`],
])(
  'a subscription without a time zone uses that of its hours, or the server’s: %j',
  async (zone, time) => {
    const receiver = await startReceiver()
    await deliveries.appendFacts(1)
    const target = { kind: 'ntfy', url: receiver.url } as const
    const days = [1, 2, 3, 4, 5, 6, 7]
    const hours = 'zone' in zone && { hours: { days, from: '00:00', to: '24:00', ...zone } }
    await deliveries.subscribe(target, { ...hours })
    await deliveries.startDeliverer().refresh()
    await eventually(() => receiver.received.length === 1)
    expect(receiver.received[0]!.body).toMatch(new RegExp(`\\(${time}\\)$`))
  },
)

test('after hours of failure, a chat gets the items due meanwhile', async () => {
  let isDown = true
  const receiver = await startReceiver(() => (isDown ? 500 : 200))
  const { id } = await deliveries.subscribe({ kind: 'ntfy', url: receiver.url })
  await deliveries.appendFacts(1, { deviceId: 'first' })
  const deliverer = deliveries.startDeliverer()
  await deliverer.refresh()
  await passAttempts(id, 9)
  expect(deliveries.clock.time).toBeGreaterThan(T0 + 2 * HOUR)
  await deliveries.appendFacts(1, { deviceId: 'second' })
  isDown = false
  await passAttempts(id, 11)
  const sent = receiver.received.slice(-2).map(({ body }) => body.split(' ')[0])
  expect(sent).toEqual(['first', 'second'])
  await deliveries.command(id, (progress) => progress)
  await deliverer.refresh()
  await eventually(async () => (await progressOf(id)).backlogSince === undefined)
})

test('items that waited for more than a day are omitted and counted in one line', async () => {
  let isDown = true
  const receiver = await startReceiver(() => (isDown ? 500 : 200))
  const { id } = await deliveries.subscribe({ kind: 'ntfy', url: receiver.url })
  await deliveries.appendFacts(3, { deviceId: 'old' })
  await deliveries.startDeliverer().refresh()
  await passAttempts(id, 20)
  await deliveries.appendFacts(1, { deviceId: 'new' })
  await passAttempts(id, 33)
  isDown = false
  await passAttempts(id, 35)
  const sent = receiver.received.slice(-2).map(({ body }) => body.replace(/ reported.*/, ''))
  expect(sent).toEqual([
    '3 events from the time when this receiver failed: omitted, older than 24 hours.',
    'new',
  ])
})
