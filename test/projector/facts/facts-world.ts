import { adoptDevices } from '../../../projector/facts/adopt.ts'
import { beginJudging } from '../../../projector/facts/start-facts.ts'
import { noteFailures } from '../../../projector/facts/judge-apart.ts'
import { followDefinitions } from '../../../projector/facts/definitions.ts'
import { watchHearing } from '../../../projector/facts/hearing.ts'
import { judgeBatches } from '../../../projector/facts/judge-batch.ts'
import { sweepDeadlines } from '../../../projector/facts/sweep.ts'
import { projectInUse, type JudgingInUse } from '../../../projector/project-in-use.ts'
import { projectorGroup } from '../../../projector/projector.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import type { EventLog } from '../../../event-log/event-log.ts'
import type { NewGeofence } from '../../../store/definitions.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'

const logger = createLogger({ level: 'silent', name: 'test' })

/** Runs the projector until everything in the log is projected and judged. */
export async function projectAll({
  eventLog,
  store,
  judging,
}: {
  readonly eventLog: EventLog
  readonly store: Store
  readonly judging: JudgingInUse
}): Promise<void> {
  const stop = new AbortController()
  const options = { eventLog, store, judging, metrics: judging.metrics, logger }
  const running = projectInUse({ ...options, signal: stop.signal })
  try {
    const caughtUp = eventually(async () => {
      const judged = await store.factsProgress()
      if (judged === undefined) return false
      const { events } = await eventLog.lag(projectorGroup(1), await store.checkpoint())
      return events === 0 && (await eventLog.lag(projectorGroup(1), judged)).events === 0
    })
    await Promise.race([running, caughtUp])
  } finally {
    stop.abort()
    await running
  }
}

export const HOME = { latitude: 45.27, longitude: 13.7 }

/** Geofences around HOME, created at the time of the clock. */
export const circleAt =
  (clock: { now(): number }) =>
  (given: Partial<NewGeofence> = {}): NewGeofence => ({
    id: 'depot',
    accountId: 'acc-1',
    createdAt: clock.now(),
    name: 'Depot',
    shape: { type: 'circle', ...HOME, radius: 60 },
    confirmSeconds: 0,
    enabled: true,
    ...given,
  })

const GRACE_MS = 2_000

/** Judging on a log and a store, with a test-controlled clock. */
export function factsWorld({
  eventLog,
  store,
  clock,
  graceMs = 0,
  isEmbedded = false,
  signal,
}: {
  eventLog: EventLog
  store: Store
  clock: { time: number; now(): number }
  /** FACTS_GRACE_SECONDS */
  graceMs?: number
  isEmbedded?: boolean
  /** Ends an adoption. */
  signal?: AbortSignal
}) {
  const definitions = followDefinitions(store, clock)
  const hearing = watchHearing({ store, clock, graceMs, spoolMaxAgeMs: 86_400_000, isEmbedded })
  const metrics = createMetrics()
  const failures = noteFailures({ clock, metrics, logger })
  const judging = { store, definitions, hearing, failures, clock, metrics }
  return {
    metrics,
    failures,
    hearing,
    judging: {
      ...judging,
      async prepare() {
        await definitions.prepare()
        await hearing.look()
      },
      begin: beginJudging({ store, eventLog, definitions, clock }),
    },
    adopt: adoptDevices({ ...judging, ...(signal !== undefined && { signal }) }),
    sweep: sweepDeadlines({ ...judging, eventLog, graceMs: GRACE_MS }),
    judgeBatches,

    /** Reports an ingest API as ready since then. */
    async ingestReports({
      readySince = 0,
      instanceId = 'ingest',
      ...more
    }: {
      readySince?: number | undefined
      instanceId?: string
      spool?: { id: string; events: number }
    } = {}) {
      await store.saveInstance({
        instanceId,
        service: 'ingest-api',
        version: '1.0.0',
        host: 'quay',
        startedAt: readySince,
        reportedAt: clock.now(),
        ...(readySince >= 0 && { readySince }),
        ...(more.spool && { spool: { bytes: 1, oldestSeconds: 1, ...more.spool } }),
      })
    },
  }
}
