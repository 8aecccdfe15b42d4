import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { deviceSeen, positionReported } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { statuses } from './event-source.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  return harness
}

afterEach(() => harness.close())

const MINUTE_MS = 60_000

/** A report received now. */
async function report(deviceId: string, changes: Parameters<typeof positionReported>[0] = {}) {
  const now = harness.clock.now()
  const event = positionReported({ deviceId, timestamp: now, receivedAt: now, ...changes })
  await harness.eventLog.append([event])
  return event
}

async function beat(deviceId: string, changes: Parameters<typeof deviceSeen>[0] = {}) {
  const heartbeat = deviceSeen({ deviceId, receivedAt: harness.clock.now(), ...changes })
  await harness.eventLog.append([heartbeat])
}

test('a status event equals the response to GET for its device, and has no id', async () => {
  const { clock, createKey, listen, project, request } = await start()
  const { secret } = await createKey()
  const source = await listen()
  project()
  const event = await report('tug', { speed: 3 })
  await eventually(() => source.of('device-status').length === 1)
  const { body } = await request('GET', '/api/v1/devices/tug', { headers: bearer(secret) })
  const [shown] = source.of('device-status')
  // The geofences and rules of a device are facts, which have events of their own.
  expect({ ...(shown?.data as object), inside: [], raised: [] }).toEqual(body.data)
  expect(shown?.hasId).toBe(false)
  expect(shown?.data).toMatchObject({
    status: 'online',
    lastPosition: { recordId: event.recordId },
  })
  clock.time += 1_000
  const later = await report('tug')
  await eventually(() => source.of('device-status').length === 2)
  expect(source.of('device-status')[1]?.data).toMatchObject({
    lastPosition: { recordId: later.recordId },
  })
})

test('a report that changes neither the last position nor the status causes no status event', async () => {
  const { listen, project } = await start()
  const source = await listen()
  project()
  await report('tug')
  await eventually(() => statuses(source).length === 1)
  await report('tug', { timestamp: harness.clock.now() - MINUTE_MS })
  await report('other')
  await eventually(() => statuses(source).includes('other online'))
  expect(statuses(source)).toEqual(['tug online', 'other online'])
})

test('a heartbeat puts a device online again, and each heartbeat updates when it was last seen', async () => {
  const { clock, listen, project } = await start()
  const source = await listen()
  project()
  const { recordId } = await report('tug')
  await eventually(() => statuses(source).length === 1)
  clock.time += 6 * MINUTE_MS
  await eventually(() => statuses(source).length === 2)
  for (const told of [3, 4]) {
    clock.time += 1_000
    await beat('tug')
    await eventually(() => statuses(source).length === told)
    expect(source.of('device-status').at(-1)?.data).toMatchObject({
      status: 'online',
      lastSeenAt: new Date(clock.now()).toISOString(),
      reportCount: 1,
      lastPosition: { recordId },
    })
  }
  await beat('unknown')
  await beat('tug', { receivedAt: clock.now() - MINUTE_MS })
  await report('other')
  await eventually(() => statuses(source).includes('other online'))
  expect(statuses(source).slice(1)).toEqual([
    'tug idle',
    'tug online',
    'tug online',
    'other online',
  ])
  expect(source.of('position')).toHaveLength(2)
})

test('telemetry of repeats and heartbeats is on the stream, and a repeat puts a device online again', async () => {
  const { clock, listen, project } = await start()
  const source = await listen()
  project()
  const first = await report('phone', { battery: 0.8 })
  await eventually(() => statuses(source).length === 1)
  clock.time += 6 * MINUTE_MS
  await eventually(() => statuses(source).length === 2)
  const lastTold = () => source.of('device-status').at(-1)?.data
  await report('phone', { ...first, receivedAt: clock.now(), battery: 0.42 })
  await eventually(() => statuses(source).length === 3)
  const receivedAt = new Date(clock.now()).toISOString()
  expect(lastTold()).toMatchObject({
    status: 'online',
    reportCount: 1,
    telemetry: { receivedAt, battery: 0.42 },
    lastPosition: { recordId: first.recordId, battery: 0.8 },
  })
  clock.time += 1_000
  await beat('phone', { attributes: { ignition: true } })
  await eventually(() => statuses(source).length === 4)
  const heardAt = new Date(clock.now()).toISOString()
  expect(lastTold()).toMatchObject({
    telemetry: { receivedAt: heardAt, attributes: { ignition: true } },
  })
})

test('a heartbeat from just before the first reader causes a status event once projected', async () => {
  const { clock, eventLog, listen, project, store } = await start()
  await report('tug', { receivedAt: clock.now() - 10 * MINUTE_MS })
  let behind = Promise.resolve()
  project({ gate: () => behind })
  await eventually(() => store.findDevice({ accountId: 'acc-1', deviceId: 'tug' }))
  let goOn = () => {}
  behind = new Promise((resolve) => (goOn = resolve))
  await beat('tug')
  const source = await listen()
  await eventually(async () => (await eventLog.extent())[0]?.next === 3)
  goOn()
  await eventually(() => statuses(source).includes('tug online'))
})

test('silence makes a device idle, then offline, with one status event each', async () => {
  const { clock, listen, project } = await start()
  const source = await listen()
  project()
  await report('tug')
  await eventually(() => statuses(source).length === 1)
  clock.time += 5 * MINUTE_MS
  await report('other')
  await eventually(() => statuses(source).length === 2)
  clock.time += 1
  await eventually(() => statuses(source).length === 3)
  clock.time += 55 * MINUTE_MS
  await eventually(() => statuses(source).length === 5)
  clock.time += 60 * MINUTE_MS
  await eventually(() => statuses(source).length === 6)
  expect(statuses(source).slice(0, 3)).toEqual(['tug online', 'other online', 'tug idle'])
  expect(statuses(source).slice(3, 5).sort()).toEqual(['other idle', 'tug offline'])
  expect(statuses(source).slice(5)).toEqual(['other offline'])
})

test('the status of a device follows its expected interval, and changes of that interval', async () => {
  const { clock, listen, project, store } = await start()
  const device = { accountId: 'acc-1', deviceId: 'buoy', changedAt: clock.now() }
  await store.changeDeviceSettings({ ...device, expectedIntervalSeconds: 3_600 })
  const known = { accountId: 'acc-1', deviceId: 'known' }
  await store.changeDeviceSettings({ ...device, ...known, expectedIntervalSeconds: 36_000 })
  project()
  await report('known', { receivedAt: clock.now() - 2 * MINUTE_MS })
  await eventually(() => store.findDevice(known))
  const source = await listen()
  await report('buoy')
  await eventually(() => statuses(source).length === 1)
  clock.time += 61 * MINUTE_MS
  await report('marker')
  await eventually(() => statuses(source).length === 2)
  clock.time += 60 * MINUTE_MS
  await eventually(() => statuses(source).includes('buoy idle'))
  await store.changeDeviceSettings({ ...device, expectedIntervalSeconds: null })
  await eventually(() => statuses(source).includes('buoy offline'))
  await store.changeDeviceSettings({ ...device, expectedIntervalSeconds: 36_000 })
  await eventually(() => statuses(source).at(-1) === 'buoy online')
  expect(statuses(source).filter((text) => !text.startsWith('marker'))).toEqual([
    'buoy online',
    'buoy idle',
    'buoy offline',
    'buoy online',
  ])
})

test('a projected report causes a status event, even from just before the first reader', async () => {
  const { listen, project } = await start()
  await report('before')
  const source = await listen()
  await report('after')
  await eventually(() => source.of('position').length === 1)
  expect(statuses(source)).toEqual([])
  project()
  await eventually(() => statuses(source).length === 2)
  expect(statuses(source).sort()).toEqual(['after online', 'before online'])
})

test('a device whose report is not projected yet is read again until it is', async () => {
  let looks = 0
  const { listen, project } = await start({
    wrapStore: (store) => ({
      ...store,
      async findDevices(query) {
        looks += 1
        return store.findDevices(query)
      },
    }),
  })
  const gate = { open: () => {}, shut: Promise.resolve() }
  const source = await listen()
  project({ gate: () => gate.shut })
  await report('tug')
  await eventually(() => statuses(source).length === 1)
  gate.shut = new Promise((resolve) => (gate.open = resolve))
  const { recordId } = await report('tug')
  await eventually(() => source.of('position').length === 2)
  const looked = looks
  await eventually(() => looks > looked + 3)
  expect(statuses(source)).toEqual(['tug online'])
  gate.open()
  await eventually(() => statuses(source).length === 2)
  expect(source.of('device-status')[1]?.data).toMatchObject({ lastPosition: { recordId } })
})

test('an account gets statuses of its own devices only, and with a filter only of the filtered device', async () => {
  const { createKey, listen, project } = await start()
  const { secret } = await createKey({ accountId: 'acc-2' })
  const all = await listen()
  const one = await listen({ query: '?deviceId=tug' })
  const theirs = await listen({ headers: bearer(secret) })
  project()
  await report('barge')
  await report('tug')
  await report('tug', { accountId: 'acc-2', latitude: 1 })
  await eventually(() => statuses(all).length === 2 && statuses(theirs).length === 1)
  await eventually(() => statuses(one).length === 1)
  expect(statuses(all).sort()).toEqual(['barge online', 'tug online'])
  expect(statuses(one)).toEqual(['tug online'])
  expect(theirs.of('device-status')[0]?.data).toMatchObject({ lastPosition: { latitude: 1 } })
})

test('statuses are not replayed', async () => {
  const { listen, project } = await start()
  const first = await listen()
  const begin = first.lastEventId()
  project()
  await report('tug')
  await eventually(() => statuses(first).length === 1)
  const again = await listen({ lastEventId: begin })
  await report('other')
  await eventually(() => statuses(again).length === 1)
  expect(statuses(again)).toEqual(['other online'])
  expect(again.of('position')).toHaveLength(2)
})

test('an erased device causes no status event until it reports again', async () => {
  const { clock, erase, listen, project } = await start()
  const source = await listen()
  project()
  const { recordId } = await report('tug')
  await eventually(() => statuses(source).length === 1)
  await erase('tug')
  clock.time += 6 * MINUTE_MS
  await report('other')
  await eventually(() => statuses(source).length === 2)
  await report('tug', { recordId })
  await eventually(() => statuses(source).length === 3)
  expect(statuses(source)).toEqual(['tug online', 'other online', 'tug online'])
  expect(source.of('device-status')[2]?.data).toMatchObject({ reportCount: 1 })
})

test('a device whose erasure has been read causes no status event, though the store still has it', async () => {
  const { clock, eventLog, listen, project } = await start()
  const gate = { shut: Promise.resolve(), open: () => {} }
  const source = await listen()
  project({ gate: () => gate.shut })
  await report('tug')
  await report('zulu')
  await eventually(() => statuses(source).length === 2)
  gate.shut = new Promise((resolve) => (gate.open = resolve))
  await eventLog.erase({
    eventId: '01KDVN9C00ERASED9000000000',
    accountId: 'acc-1',
    deviceId: 'tug',
    erasedAt: clock.now(),
  })
  await report('other')
  await eventually(() => source.of('position').length === 3)
  clock.time += 6 * MINUTE_MS
  // Seen at the same time as the other device, but read after it.
  await eventually(() => statuses(source).includes('zulu idle'))
  expect(statuses(source)).not.toContain('tug idle')
  gate.open()
})
