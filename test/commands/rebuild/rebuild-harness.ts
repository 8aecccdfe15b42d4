import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { projectInUse } from '../../../projector/project-in-use.ts'
import { projectorGroup } from '../../../projector/projector.ts'
import { rebuildReadModels, type RebuildOutcome } from '../../../commands/rebuild/rebuild.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { eventually } from '../../eventually.ts'
import { deviceErased, positionReported, T0 } from '../../samples.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
/** Readers check for a switch every 200 ms. */
const FOLLOWED_AFTER_MS = 300

type RebuildOptions = Partial<Parameters<typeof rebuildReadModels>[0]> & {
  /** The pause before the switch, and before the previous generation is removed. */
  hold?: () => Promise<unknown>
}

/**
 * For each test, a log and a store in a new folder and a projector between them. `prepare` puts
 * files into the folder.
 */
export function rebuildableForEachTest({
  prepare,
}: { prepare?: (directory: string) => void } = {}) {
  const clock = { time: T0, now: (): number => clock.time }
  const directory = directoryForEachTest()
  const here = {} as { directory: string; eventLog: EventLog; store: Store }
  let stopProjector: () => Promise<void>

  beforeEach(() => {
    here.directory = directory()
    clock.time = T0
    prepare?.(here.directory)
    here.eventLog = openLog()
    here.store = openSqliteStore({ directory: here.directory })
    startProjector()
  })

  afterEach(async () => {
    await stopProjector()
    await here.store.close()
    await here.eventLog.close()
  })

  function openLog(name = 'log'): EventLog {
    return openSqliteEventLog({ file: join(here.directory, `${name}.sqlite`), clock })
  }

  function startProjector() {
    const { eventLog, store } = here
    const stop = new AbortController()
    const { signal } = stop
    const running = projectInUse({ eventLog, store, metrics: createMetrics(), logger, signal })
    stopProjector = () => {
      stop.abort()
      return running
    }
  }

  /** Like another process: opens the store and log separately. */
  async function rebuild({ hold, ...options }: RebuildOptions = {}): Promise<RebuildOutcome> {
    const ownLog = openLog()
    const ownStore = openSqliteStore({ directory: here.directory })
    try {
      return await rebuildReadModels({
        eventLog: ownLog,
        store: hold === undefined ? ownStore : held(ownStore, hold),
        clock,
        metrics: createMetrics(),
        logger,
        screen: { write: () => undefined },
        force: false,
        followedAfterMs: FOLLOWED_AFTER_MS,
        signal: new AbortController().signal,
        ...options,
      })
    } finally {
      await ownStore.close()
      await ownLog.close()
    }
  }

  async function append(count: number, deviceId = 'tracker-1'): Promise<string[]> {
    const events = Array.from({ length: count }, () => positionReported({ deviceId }))
    await here.eventLog.append(events)
    return events.map(({ recordId }) => recordId)
  }

  async function erase(deviceId: string): Promise<void> {
    await here.eventLog.erase(deviceErased({ deviceId, erasedAt: T0 }))
  }

  /** A device setting that operators see whether or not the device has reported. */
  async function expectEvery(deviceId: string, changedAt: number): Promise<void> {
    const device = { accountId: 'acc-1', deviceId }
    await here.store.changeDeviceSettings({ ...device, expectedIntervalSeconds: 60, changedAt })
  }

  async function caughtUp(): Promise<void> {
    await eventually(async () => {
      const group = projectorGroup(await here.store.currentGeneration())
      return (await here.eventLog.lag(group, await here.store.checkpoint())).events === 0
    })
  }

  /** Each device's report count and number of records. */
  async function counts(): Promise<Record<string, [counted: number, stored: number]>> {
    const devices = await here.store.pageDevices({ accountId: 'acc-1', limit: 1_000 })
    const entries = devices.map(async ({ status: { deviceId, reportCount } }) => {
      const query = { accountId: 'acc-1', deviceId, order: 'asc', limit: 10_000 } as const
      return [deviceId, [reportCount, (await here.store.pagePositions(query)).length]]
    })
    return Object.fromEntries(await Promise.all(entries)) as Record<string, [number, number]>
  }

  /** Changes the read models without the service's knowledge. */
  function damage(sql: string, generation = 1): void {
    const database = new DatabaseSync(join(here.directory, `read-models-${generation}.sqlite`))
    database.exec(sql)
    database.close()
  }

  return Object.assign(here, {
    clock,
    openLog,
    startProjector,
    stopProjector: () => stopProjector(),
    rebuild,
    append,
    erase,
    expectEvery,
    caughtUp,
    counts,
    damage,
  })
}

function held(ownStore: Store, hold: () => Promise<unknown>): Store {
  return {
    ...ownStore,
    async beginRebuild() {
      const begun = await ownStore.beginRebuild()
      return (
        begun && {
          ...begun,
          switchOver: () => hold().then(() => begun.switchOver()),
          end: () => hold().then(() => begun.end()),
        }
      )
    },
  }
}
