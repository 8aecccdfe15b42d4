import { expect, test } from '@jest/globals'
import type { EventLog } from '../../event-log/event-log.ts'
import { keepDeadLetters } from '../../projector/dead-letters.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { projectorGroup, runProjector } from '../../projector/projector.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'
import { logAndStoreForEachTest } from './log-and-store.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const tracker = { accountId: 'acc-1', deviceId: 'tracker-1' }

let eventLog: EventLog
let store: Store

logAndStoreForEachTest((opened) => ({ eventLog, store } = opened))

/** Runs the current generation's projector until a condition holds. */
async function projectUntil(
  done: () => boolean | Promise<boolean> = caughtUp,
  on: Parameters<typeof projectInUse>[0]['store'] = store,
) {
  const metrics = createMetrics()
  const stop = new AbortController()
  const running = projectInUse({ eventLog, store: on, metrics, logger, signal: stop.signal })
  try {
    await eventually(done)
  } finally {
    stop.abort()
    await running
  }
  return metrics
}

async function caughtUp(): Promise<boolean> {
  return (await eventLog.lag(projectorGroup(1), await store.checkpoint())).events === 0
}

/** Erases as an operator does, at a given time. */
async function nameTracker(name: string, changedAt: number): Promise<void> {
  await store.changeDeviceSettings({ ...tracker, name, changedAt })
}

/** The device's settings, visible once it reports. */
async function settings() {
  await eventLog.append([positionReported()])
  await projectUntil()
  return (await store.findDevice(tracker))?.settings
}

test('an erasure removes earlier records in the log and keeps later ones', async () => {
  const before = [positionReported(), positionReported()]
  const other = positionReported({ deviceId: 'tracker-2' })
  const after = positionReported()
  await eventLog.append([...before, other])
  await eventLog.erase(deviceErased(tracker))
  await eventLog.append([after])
  const metrics = await projectUntil()
  for (const { recordId } of before) {
    expect(await store.findPosition({ accountId: 'acc-1', recordId })).toBeUndefined()
  }
  const found = await store.findDevice(tracker)
  expect(found?.status).toMatchObject({ reportCount: 1, firstSeenAt: after.receivedAt })
  expect((await store.findDevice({ ...tracker, deviceId: 'tracker-2' }))?.status).toMatchObject({
    reportCount: 1,
  })
  const text = await metrics.registry.metrics()
  expect(text).toContain('gps_projected_events_total{outcome="erased"} 1')
  // Records removed by the erasure in the same batch are not counted.
  expect(text).toContain('gps_projected_events_total{outcome="stored"} 2')
})

test('an erased device loses earlier settings and keeps later ones', async () => {
  await eventLog.append([positionReported()])
  await nameTracker('said before', T0)
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 }))
  await projectUntil()
  expect(await store.findDevice(tracker)).toBeUndefined()
  expect(await settings()).toEqual({ disabled: false })

  await nameTracker('said since', T0 + 2)
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 + 1 }))
  await projectUntil()
  expect(await settings()).toMatchObject({ name: 'said since' })
})

test('an erased device loses its settings even if the projector ends before removing them', async () => {
  await nameTracker('said before', T0)
  await eventLog.append([positionReported()])
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 }))
  let tried = false
  const failing = {
    currentGeneration: () => store.currentGeneration(),
    openGeneration: (generation: number) => store.openGeneration(generation),
    beginRebuild: () => store.beginRebuild(),
    retentionDays: () => store.retentionDays(),
    forgetErased: () => {
      tried = true
      return Promise.reject(new DependencyError('the store is away', { retriable: true }))
    },
  }
  await projectUntil(() => tried, failing)
  expect(await settings()).toEqual({ disabled: false })
})

test('a device keeps its settings if another generation has applied the erasure', async () => {
  await store.changeDeviceSettings({ ...tracker, expectedIntervalSeconds: 60, changedAt: T0 })
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 }))
  const stop = new AbortController()
  const { signal } = stop
  const metrics = createMetrics()
  const generation = await store.openGeneration(1)
  const running = runProjector({
    eventLog,
    store: generation,
    settings: store,
    settingsForgottenUpTo: { 0: 1 },
    keepDeadLetters: keepDeadLetters({ deadLetters: eventLog.deadLetters, metrics, logger }),
    metrics,
    signal,
  })
  await eventually(caughtUp)
  stop.abort()
  await running
  await generation.close()
  expect(await store.devicesWithInterval('acc-1')).toMatchObject([{ deviceId: 'tracker-1' }])
})
