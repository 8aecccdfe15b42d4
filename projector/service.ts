import type { EventLog } from '../event-log/event-log.ts'
import type { FactTopic } from '../event-log/fact-log.ts'
import { repeatUntilSuccess } from '../runtime/process/repeat.ts'
import { systemClock as clock, type Clock } from '../runtime/clock.ts'
import type { Program } from '../runtime/process/program.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import { REPORT_INSTANCE_EVERY_MS, reportInstance } from '../runtime/process/instance.ts'
import type { Instances, Outdated } from '../store/back-office.ts'
import type { AdoptionStore, DefinitionStore } from '../store/definitions.ts'
import type { FactStore } from '../store/facts.ts'
import type { Handlings } from '../store/handlings.ts'
import type { Operators } from '../store/operators.ts'
import type { Rejections } from '../store/rejections.ts'
import type { Generations } from '../store/generations.ts'
import type { Devices, Erasures, ReadModels } from '../store/read-models.ts'
import { startFacts } from './facts/start-facts.ts'
import { lagWatch, watchProgress } from './measure-lag.ts'
import { projectInUse } from './project-in-use.ts'
import { projectRejections } from './project-rejections.ts'
import { projectorGroup } from './projector.ts'

const MINUTE_MS = 60 * 1_000
const HOUR_MS = 60 * MINUTE_MS
const LAG_EVERY_MS = 5_000

/** The part of the log that the projector uses. */
export type ProjectedLog = Pick<
  EventLog,
  'subscribe' | 'eventIdsAt' | 'extent' | 'lag' | 'trim'
> & {
  readonly rejections: Pick<EventLog['rejections'], 'subscribe'>
  readonly deadLetters: Pick<EventLog['deadLetters'], 'append' | 'count'>
}

/** The part of the store that the projector uses. */
export type ProjectedStore = ReadModels &
  Generations &
  Pick<Erasures, 'forgetErased' | 'finishErasures' | 'erasuresOf'> &
  Pick<Rejections, 'saveRejections'> &
  Outdated &
  FactStore &
  Pick<Handlings, 'expireHandlings'> &
  Pick<Operators, 'pageAccounts'> &
  Pick<DefinitionStore, 'changedGeofences' | 'changedRules' | keyof AdoptionStore> &
  Pick<Devices, 'placeDevices'> &
  Pick<Instances, 'saveInstance' | 'instances' | 'waitingSpools'>

/**
 * Starts the projector on an open log and store. When the process stops, it finishes the current
 * batch if the store allows it; otherwise the log delivers that batch again. Returns a check that
 * it makes progress.
 */
export function startProjector(
  {
    eventLog,
    store,
    topic,
  }: {
    eventLog: ProjectedLog
    store: ProjectedStore
    /** The topic where facts are published. */
    topic?: FactTopic
  },
  program: Program,
): { ready(): Promise<void> } {
  const { config, logger, metrics, lifecycle } = program
  const signal = lifecycle.stopping
  const judging = startFacts({ eventLog, store, topic }, program)
  lifecycle.run('projector', projectInUse({ eventLog, store, judging, metrics, logger, signal }))
  lifecycle.run('rejections', projectRejections({ rejections: eventLog.rejections, store, signal }))
  lifecycle.every('removal of outdated data', HOUR_MS, () =>
    repeatUntilSuccess(() => store.removeOutdated(clock.now()), {
      logger,
      signal,
      failure: 'could not remove outdated data; retrying',
    }),
  )
  lifecycle.every('finishing erasures', MINUTE_MS, () =>
    repeatUntilSuccess(() => store.finishErasures(), {
      logger,
      signal,
      failure: 'could not remove erased devices from the back office; retrying',
    }),
  )
  const lag = lagWatch({ eventLog, store, metrics })
  lifecycle.every('measuring the lag', LAG_EVERY_MS, () => lag.measure())
  const progress = watchProgress({ eventLog, store, clock })
  lifecycle.every('watching the progress', LAG_EVERY_MS, () => progress.look())
  const save = (report: InstanceReport) => store.saveInstance(report)
  const measure = () => ({
    ...lag.last(),
    failingDevices: judging.failures.count(),
    silenceHeldSeconds: (clock.now() - (judging.hearing.heldSince() ?? clock.now())) / 1_000,
  })
  lifecycle.every(
    'instance report',
    REPORT_INSTANCE_EVERY_MS,
    reportInstance({ service: 'projector', save, measure, clock }),
  )
  const { retention } = config
  if (typeof retention === 'number') {
    // Right after the start the log may not be ready yet, and the next attempt would be an hour
    // later.
    const failure = 'could not apply the retention; retrying'
    const options = { eventLog, store, clock, retentionDays: retention, signal }
    lifecycle.every('retention', HOUR_MS, () =>
      repeatUntilSuccess(() => applyRetention(options), { logger, signal, failure }),
    )
  }
  return progress
}

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Removes data received more than `retentionDays` ago: first from the log, so that a concurrent
 * rebuild brings nothing back, then from the read models. Those only contain reports that have been
 * projected: a device that was silent for `retentionDays` up to that point is removed; a
 * device that may have reported since stays.
 */
export async function applyRetention({
  eventLog,
  store,
  clock,
  retentionDays,
  signal,
}: {
  eventLog: Pick<EventLog, 'trim' | 'lag'>
  store: Pick<ReadModels, 'expire' | 'checkpoint'> &
    Pick<Generations, 'currentGeneration'> &
    Pick<FactStore, 'expireFacts'> &
    Pick<Handlings, 'expireHandlings'>
  clock: Clock
  retentionDays: number
  /** Stops between two steps; the next call continues. */
  signal: AbortSignal
}): Promise<void> {
  const receivedBefore = clock.now() - retentionDays * DAY_MS
  await eventLog.trim(receivedBefore, signal)
  const group = projectorGroup(await store.currentGeneration())
  const lag = await eventLog.lag(group, await store.checkpoint())
  const seenBefore = receivedBefore - lag.seconds * 1_000
  if (!signal.aborted) await store.expire(receivedBefore, { seenBefore, signal })
  if (!signal.aborted) await store.expireFacts(seenBefore, signal)
  if (!signal.aborted) await store.expireHandlings(seenBefore)
}
