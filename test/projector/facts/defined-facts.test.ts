import { expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import type { NewRule } from '../../../store/definitions.ts'
import type { Store } from '../../../store/store.ts'
import { positionReported, T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { circleAt, factsWorld, HOME, projectAll } from './facts-world.ts'

const MINUTE = 60_000

let eventLog: EventLog
let store: Store
let world: ReturnType<typeof factsWorld>
const clock = { time: T0, now: () => clock.time }
const circle = circleAt(clock)

logAndStoreForEachTest((opened) => {
  ;({ eventLog, store } = opened)
  clock.time = T0
  world = factsWorld({ eventLog, store, clock })
})

async function project(): Promise<void> {
  await world.ingestReports()
  await projectAll({ eventLog, store, judging: world.judging })
}

async function report(minutes: number, north: number, fields: object = {}): Promise<void> {
  const time = T0 + minutes * MINUTE
  clock.time = Math.max(clock.time, time)
  const latitude = HOME.latitude + north / 111_195
  await eventLog.append([
    positionReported({ ...HOME, latitude, timestamp: time, receivedAt: time, ...fields }),
  ])
  await project()
}

/** Two sweeps: the second sees time passed since the first. */
async function sweep(minutes: number): Promise<void> {
  clock.time = T0 + minutes * MINUTE
  await world.ingestReports()
  await world.sweep()
  clock.time += 5_000
  await world.ingestReports()
  await world.sweep()
}

const rule = (given: Pick<NewRule, 'when'> & Partial<NewRule>): NewRule => ({
  id: 'rule',
  accountId: 'acc-1',
  createdAt: clock.time,
  name: 'Rule',
  forSeconds: 0,
  enabled: true,
  ...given,
})

async function facts() {
  const found = await store.pageFacts({ accountId: 'acc-1', limit: 1000 })
  const inOrder = [...found].sort((a, b) => a.sequence - b.sequence)
  return inOrder.map(({ type, at, inside }) => [type, (at - T0) / MINUTE, inside] as const)
}

test('facts about geofences and rules are decided, numbered and stored with the device’s geofences after each', async () => {
  await project()
  await store.createGeofences([circle()])
  await store.createRule(rule({ when: { inside: 'depot' } }))
  await world.judging.definitions.refresh()
  await report(1, 500)
  await report(2, 0)
  await report(3, 500)
  expect(await facts()).toEqual([
    ['device.online', 1, []],
    ['geofence.entered', 2, ['depot']],
    ['rule.raised', 2, ['depot']],
    ['geofence.left', 3, []],
    ['rule.cleared', 3, []],
  ])
  const ofGeofence = await store.pageFacts({ accountId: 'acc-1', limit: 9, definitionId: 'depot' })
  expect(ofGeofence.map(({ type }) => type)).toEqual(['geofence.left', 'geofence.entered'])
})

test('a geofence created around a parked car is known at the next sweep, and the car is inside without a fact', async () => {
  await project()
  await report(1, 0)
  clock.time += 10 * MINUTE
  await store.createGeofences([circle()])
  await sweep(12)
  await report(30, 10)
  expect(await facts()).toEqual([['device.online', 1, []]])
  const inside = await store.devicesWith({ accountId: 'acc-1', definitionId: 'depot', limit: 9 })
  expect(inside).toEqual([{ deviceId: 'tracker-1', since: null }])
  await report(40, 500)
  expect((await facts()).at(-1)).toEqual(['geofence.left', 40, []])
  expect(await store.devicesWith({ accountId: 'acc-1', definitionId: 'depot', limit: 9 })).toEqual(
    [],
  )
})

test('a new rule about silence finds devices that send nothing', async () => {
  await project()
  await report(1, 0)
  await sweep(5)
  await store.createRule(rule({ when: { silent: true }, forSeconds: 600 }))
  await sweep(6)
  await sweep(14)
  expect((await facts()).length).toBe(1)
  await sweep(16)
  // The previous sweep was late: silence is judged once reports have been heard again for long
  // enough.
  await sweep(16.3)
  const [type, raisedAt] = (await facts()).at(-1) ?? []
  expect(type).toBe('rule.raised')
  expect(raisedAt).toBeCloseTo(5 + 5 / 60 + 10, 6)
  const raised = await store.devicesWith({
    accountId: 'acc-1',
    definitionId: 'rule',
    revision: 1,
    limit: 9,
  })
  expect(raised).toHaveLength(1)
  expect(
    await store.devicesWith({ accountId: 'acc-1', definitionId: 'rule', revision: 2, limit: 9 }),
  ).toEqual([])
})

test('a device that gets a label is judged by the geofences with that label', async () => {
  await project()
  await report(1, 500)
  await store.createGeofences([circle({ labels: ['night'] })])
  await sweep(2)
  await report(3, 0)
  await report(4, 500)
  const change = { accountId: 'acc-1', deviceId: 'tracker-1', life: undefined, labels: ['night'] }
  await store.changeDeviceSettings({ ...change, changedAt: clock.time })
  await sweep(5)
  await report(6, 0)
  expect((await facts()).slice(1)).toEqual([['geofence.entered', 6, ['depot']]])
})

test('the next sweep forgets a deleted geofence, even if the deletion became visible late', async () => {
  await project()
  await store.createGeofences([circle()])
  await sweep(1)
  await report(2, 0)
  await store.deleteGeofence({ accountId: 'acc-1', id: 'depot', deletedAt: clock.time })
  await sweep(3)
  await report(4, 500)
  expect((await facts()).map(([type]) => type)).toEqual(['geofence.entered', 'device.online'])
})

test('devices known before judging started are inside the geofences around them without a fact', async () => {
  await store.createGeofences([circle()])
  const time = T0 + MINUTE
  clock.time = time
  await eventLog.append([positionReported({ ...HOME, timestamp: time, receivedAt: time })])
  await project()
  await report(2, 0)
  expect(await facts()).toEqual([])
  await report(3, 500)
  expect(await facts()).toEqual([['geofence.left', 3, []]])
})

test('reinstating an account decides no fact and restarts all its deadlines', async () => {
  const account = { id: 'acc-1', name: 'Fleet', suspended: false, createdAt: T0 }
  await store.createAccount(account)
  await project()
  await report(1, 0)
  const device = { accountId: 'acc-1', deviceId: 'tracker-1', expectedIntervalSeconds: 30 }
  await store.changeDeviceSettings({ ...device, changedAt: clock.time })
  await store.suspendAccount({ accountId: 'acc-1', suspended: true })
  await sweep(3)
  await sweep(20)
  const resumedAt = T0 + 30 * MINUTE
  await store.suspendAccount({ accountId: 'acc-1', suspended: false, resumedAt })
  for (const minutes of [30.1, 30.5, 34.8]) await sweep(minutes)
  expect(await facts()).toEqual([['device.online', 1, []]])
  for (const minutes of [35.2, 35.5]) await sweep(minutes)
  expect((await facts()).at(-1)).toEqual(['device.offline', 35, []])
})
