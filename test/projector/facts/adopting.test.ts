import { expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import type { NewGeofence } from '../../../store/definitions.ts'
import type { Store } from '../../../store/store.ts'
import { positionReported, T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { circleAt, factsWorld, HOME, projectAll } from './facts-world.ts'

const MINUTE = 60_000
const accountId = 'acc-1'

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

/** The distance of each device north of HOME, in metres. */
async function report(minutes: number, places: Readonly<Record<string, number>>): Promise<void> {
  const time = T0 + minutes * MINUTE
  clock.time = Math.max(clock.time, time)
  const times = { timestamp: time, receivedAt: time }
  await eventLog.append(
    Object.entries(places).map(([deviceId, north]) => {
      const latitude = HOME.latitude + north / 111_195
      return positionReported({
        ...HOME,
        ...times,
        latitude,
        deviceId,
      })
    }),
  )
  await project()
}

/** Reads the definitions again and searches for devices. */
async function refresh(minutes: number): Promise<void> {
  clock.time = T0 + minutes * MINUTE
  await world.ingestReports()
  await world.sweep()
  await world.adopt()
}

async function change(given: Partial<NewGeofence>): Promise<void> {
  const change = { accountId, id: 'depot', changedAt: clock.time }
  await store.changeGeofence({ ...change, next: (before) => ({ ...before, ...given }) })
}

async function whoIsInside(): Promise<string[]> {
  const devices = await store.devicesWith({ accountId, definitionId: 'depot', limit: 9_000 })
  return devices.map(({ deviceId }) => deviceId)
}

async function aboutGeofences() {
  const found = await store.pageFacts({ accountId, limit: 1000 })
  return found.filter((fact) => 'geofence' in fact)
}

test('cars parked inside a new geofence are in it without a report or a fact', async () => {
  await project()
  await report(1, { car: 0, van: 30, bus: 500 })
  clock.time += 10 * MINUTE
  await store.createGeofences([circle()])
  await refresh(12)
  expect(await whoIsInside()).toEqual(['car', 'van'])
  await report(30, { car: 10, van: 500, bus: 0 })
  expect((await aboutGeofences()).map(({ type, deviceId }) => [type, deviceId]).sort()).toEqual([
    ['geofence.entered', 'bus'],
    ['geofence.left', 'van'],
  ])
  expect(await aboutGeofences()).toContainEqual(expect.objectContaining({ enteredAt: null }))
  expect(await whoIsInside()).toEqual(['bus', 'car'])
})

test('a parked car is inside a geofence that is moved over it or enabled around it', async () => {
  await project()
  await report(1, { car: 0 })
  clock.time += MINUTE
  const elsewhere = { type: 'circle', ...HOME, latitude: 50, radius: 60 } as const
  await store.createGeofences([circle({ shape: elsewhere })])
  await refresh(3)
  expect(await whoIsInside()).toEqual([])
  await change({ shape: circle().shape })
  await refresh(4)
  expect(await whoIsInside()).toEqual(['car'])
  await change({ enabled: false })
  await refresh(5)
  await report(6, { car: 1 })
  expect(await whoIsInside()).toEqual([])
  clock.time += MINUTE
  await change({ enabled: true })
  await refresh(8)
  expect(await whoIsInside()).toEqual(['car'])
  expect(await aboutGeofences()).toEqual([])
})

test('a parked car that gets the label of a geofence around it is inside', async () => {
  await project()
  await store.createGeofences([circle({ labels: ['night'] })])
  await report(1, { car: 0, van: 0 })
  await refresh(2)
  expect(await whoIsInside()).toEqual([])
  clock.time += MINUTE
  const labels = { accountId, deviceIds: ['car'], add: ['night'], remove: [] }
  await store.changeLabels({ ...labels, changedAt: clock.time })
  await refresh(4)
  expect(await whoIsInside()).toEqual(['car'])
  await report(5, { car: 1 })
  expect(await aboutGeofences()).toEqual([])
})

test('a rename starts no search, and a wait ends if `confirmSeconds` becomes shorter', async () => {
  await project()
  await store.createGeofences([circle({ confirmSeconds: 3_600 })])
  await refresh(1)
  await report(2, { car: 500 })
  await report(3, { car: 0 })
  await refresh(4)
  expect(await whoIsInside()).toEqual([])
  await change({ name: 'Yard' })
  await refresh(5)
  expect(await whoIsInside()).toEqual([])
  await change({ confirmSeconds: 30 })
  await refresh(6)
  expect(await whoIsInside()).toEqual(['car'])
  await refresh(70)
  expect(await aboutGeofences()).toEqual([])
})

test('many devices are found in parts that record their progress, and an interrupted search restarts', async () => {
  await project()
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [`car-${n}`, n % 2 === 0 ? 0 : 50]),
  )
  await report(1, { ...many, far: 5_000 })
  clock.time += MINUTE
  await store.createGeofences([circle()])
  const stop = new AbortController()
  world = factsWorld({ eventLog, store, clock, signal: stop.signal })
  clock.time += MINUTE
  await world.ingestReports()
  await world.sweep()
  stop.abort()
  await world.adopt()
  const begun = await store.adoption(accountId)
  expect(begun?.running).toMatchObject({ total: 400 })
  expect(begun?.running?.done).toBeLessThan(400)
  expect((await whoIsInside()).length).toBe(begun?.running?.done)

  world = factsWorld({ eventLog, store, clock })
  await refresh(4)
  expect(await whoIsInside()).toHaveLength(400)
  expect((await store.adoption(accountId))?.running).toBeUndefined()
  expect(await aboutGeofences()).toEqual([])
})

test('a rule about silence inside a new geofence is raised for a car parked there', async () => {
  await project()
  await report(1, { car: 0 })
  clock.time += MINUTE
  await store.createGeofences([circle()])
  const rule = {
    name: 'Silent',
    when: { silent: true },
    forSeconds: 600,
    geofenceIds: ['depot'],
  } as const
  await store.createRule({ ...rule, id: 'rule', accountId, createdAt: clock.time, enabled: true })
  for (let minute = 3; minute <= 15; minute += 0.4) await refresh(minute)
  const { at } = (await store.pageFacts({ accountId, limit: 9, type: 'rule.raised' }))[0] ?? {}
  expect(at).toBe(T0 + 12 * MINUTE)
})
