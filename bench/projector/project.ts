import type { EventLog } from '../../event-log/event-log.ts'
import { startFacts } from '../../projector/facts/start-facts.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/process/lifecycle.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../../test/eventually.ts'
import { measureCpuMicros } from '../cpu-time.ts'
import { eventOf, idOf, type Events } from '../events.ts'

/** The speed of projecting events, with everything written. */
export type Speed = { readonly perSecond: number; readonly cpuMicros: number }

/**
 * The share of devices that visit a geofence; the other geofences are in the same towns, but no
 * device passes through them.
 */
const VISITING = 0.06
/** No device stops here. */
const ASIDE_DEGREES = 0.1
const MADE_AT_ONCE = 500
const LOOKING = { withinMs: 3_600_000, everyMs: 5 }

/**
 * Projects a log into an empty store as the projector does, and closes the store. Time counts from the first batch on,
 * so connecting does not count. Without a number of `geofences`, no facts are decided.
 */
export async function projectAll(
  { eventLog, store }: { readonly eventLog: EventLog; readonly store: Store },
  { geofences, events, devices }: Events & { readonly geofences: number | undefined },
): Promise<Speed> {
  const logger = createLogger({ level: 'error', name: 'bench' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 60_000 })
  const program = { config: loadConfig({}), logger, metrics: createMetrics(), lifecycle }
  const isJudged = geofences !== undefined
  if (isJudged) {
    await store.beginFacts({})
    await defineGeofences(store, { geofences, devices })
  }
  const cpu = measureCpuMicros()
  const judging = isJudged && { judging: startFacts({ eventLog, store }, program) }
  const signal = lifecycle.stopping
  const projecting = projectInUse({ ...program, eventLog, store, ...judging, signal })
  const extent = await eventLog.extent()
  /** The number of events projected, and judged if judging is on. */
  const done = async () => {
    const offsets = (await (isJudged ? store.factsProgress() : store.checkpoint())) ?? {}
    return extent.reduce((sum, { partition, first }) => {
      return sum + (offsets[partition] ?? first - 1) + 1 - first
    }, 0)
  }
  const before = await eventually(done, LOOKING)
  const begun = performance.now()
  await eventually(async () => (await done()) >= events, LOOKING)
  const seconds = (performance.now() - begun) / 1000
  await lifecycle.close()
  await projecting
  await store.close()
  return { perSecond: (events - before) / seconds, cpuMicros: cpu() / events }
}

/** Creates geofences around the positions of devices at their fifth report, or slightly beside. */
async function defineGeofences(
  store: Pick<Store, 'createGeofences'>,
  { geofences, devices }: { readonly geofences: number; readonly devices: number },
): Promise<void> {
  const visited = Math.min(geofences / 2, VISITING * devices)
  const all = Array.from({ length: geofences }, (_, n) => {
    const device = Math.floor(n < visited ? n / VISITING : (n * devices) / geofences) % devices
    const { accountId, latitude, longitude } = eventOf(5 * devices + device, devices)
    const middle = { latitude, longitude: longitude + (n < visited ? 0 : ASIDE_DEGREES) }
    return {
      accountId,
      id: idOf(n),
      name: `Depot ${n}`,
      shape: { type: 'circle', ...middle, radius: 300 } as const,
      confirmSeconds: 0,
      enabled: true,
      createdAt: 0,
    }
  })
  for (let made = 0; made < geofences; made += MADE_AT_ONCE) {
    await store.createGeofences(all.slice(made, made + MADE_AT_ONCE))
  }
}
