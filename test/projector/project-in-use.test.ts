import { expect, test } from '@jest/globals'
import type { EventLog } from '../../event-log/event-log.ts'
import { lagWatch } from '../../projector/measure-lag.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { positionReported } from '../samples.ts'
import { logAndStoreForEachTest } from './log-and-store.ts'

const logger = createLogger({ level: 'silent', name: 'test' })

let eventLog: EventLog
let store: Store

logAndStoreForEachTest((opened) => ({ eventLog, store } = opened))

type InUse = Parameters<typeof projectInUse>[0]['store']

async function whileProjecting(on: InUse, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  const running = projectInUse({ eventLog, store: on, metrics: createMetrics(), logger, signal })
  try {
    await work()
  } finally {
    stop.abort()
    await running
  }
}

async function counted(): Promise<number | undefined> {
  const device = await store.findDevice({ accountId: 'acc-1', deviceId: 'tracker-1' })
  return device?.status.reportCount
}

test('records missing in a generation are copied when it becomes current', async () => {
  await whileProjecting(store, async () => {
    await eventLog.append([positionReported(), positionReported()])
    await eventually(async () => (await counted()) === 2)
    const rebuild = await store.beginRebuild()
    // Empty: nothing has been copied into it.
    await rebuild?.switchOver()
    await eventLog.append([positionReported()])
    const built = await store.openGeneration(2)
    await eventually(async () => (await built.checkpoint())[0] === 3)
    await built.close()
    await eventually(async () => (await counted()) === 3)
    await rebuild?.end()
    await eventLog.append([positionReported()])
    await eventually(async () => (await counted()) === 4)
  })
})

test('the lag is measured for the read models in use', async () => {
  await eventLog.append([positionReported(), positionReported(), positionReported()])
  await whileProjecting(store, async () => {
    await eventually(async () => (await counted()) === 3)
  })
  const metrics = createMetrics()
  const watch = lagWatch({ eventLog, store, metrics })
  await watch.measure()
  expect((await metrics.projectorLagEvents.get()).values[0]?.value).toBe(0)
  const rebuild = await store.beginRebuild()
  await rebuild?.switchOver()
  // Readers of the store follow a switch within two seconds.
  await eventually(async () => {
    await watch.measure()
    return (await metrics.projectorLagEvents.get()).values[0]?.value === 3
  })
  await rebuild?.end()
})

test('the projector waits for a store that is unavailable at the start', async () => {
  let failures = 1
  const flaky: InUse = {
    currentGeneration: async () => {
      failures -= 1
      if (failures >= 0) throw new DependencyError('the store is away', { retriable: true })
      return store.currentGeneration()
    },
    openGeneration: (generation) => store.openGeneration(generation),
    beginRebuild: () => store.beginRebuild(),
    forgetErased: (erasure) => store.forgetErased(erasure),
    retentionDays: () => store.retentionDays(),
  }
  await eventLog.append([positionReported()])
  await whileProjecting(flaky, async () => {
    await eventually(async () => (await counted()) === 1)
  })
})

test('a permanent failure of the store ends the projector', async () => {
  const refusing: InUse = {
    currentGeneration: async () => {
      throw new DependencyError('of a newer version', { retriable: false })
    },
    openGeneration: (generation) => store.openGeneration(generation),
    beginRebuild: () => store.beginRebuild(),
    forgetErased: (erasure) => store.forgetErased(erasure),
    retentionDays: () => store.retentionDays(),
  }
  const { signal } = new AbortController()
  await expect(
    projectInUse({ eventLog, store: refusing, metrics: createMetrics(), logger, signal }),
  ).rejects.toThrow('of a newer version')
})
