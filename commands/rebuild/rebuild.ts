import { setTimeout as pause } from 'node:timers/promises'
import type { EventLog, Extent } from '../../event-log/event-log.ts'
import { endOf, hasReached, lowerOffsets } from '../../event-log/offsets.ts'
import { keepDeadLetters } from '../../projector/dead-letters.ts'
import { runProjector } from '../../projector/projector.ts'
import { findGapBefore, findOtherLogReason, type KnownLog } from '../../projector/same-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { Generation, Generations, Rebuild } from '../../store/generations.ts'
import type { Erasures, ReadModels } from '../../store/read-models.ts'
import type { Cover } from './device-digest.ts'
import { digestsOf, type Digest } from './digest.ts'
import { progressText, showProgress, type Screen } from '../progress.ts'
import { eventsDone, findMissingEntries } from './log-coverage.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
const LOOK_EVERY_MS = 200

export type RebuildOutcome =
  | { readonly kind: 'busy' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'log too short'; readonly reason: string }
  | { readonly kind: 'different' | 'switched'; readonly compared: Compared }

/** Two generations as of the start of the rebuild. */
export type Compared = {
  readonly from: number
  readonly to: number
  readonly before: Digest
  readonly after: Digest
  /**
   * False if another version of the fold produced device statuses of the old generation: they may
   * differ then.
   */
  readonly comparesDevices: boolean
  readonly equal: boolean
}

type Dependencies = {
  readonly eventLog: Pick<EventLog, 'subscribe' | 'deadLetters'> & KnownLog
  readonly store: Generations & Pick<Erasures, 'forgetErased'> & Pick<ReadModels, 'retentionDays'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly screen: Screen
  readonly force: boolean
  /** After this time, in milliseconds, every other process has followed a switch. */
  readonly followedAfterMs: number
  /** Stops the rebuild, until the switch. */
  readonly signal: AbortSignal
}

/**
 * Builds a new generation of the read models from the log, compares it with the current one as of
 * its start, and switches. A failure before the switch leaves the old generation in use.
 */
export async function rebuildReadModels(dependencies: Dependencies): Promise<RebuildOutcome> {
  const { store, signal } = dependencies
  const rebuild = await store.beginRebuild()
  if (rebuild === undefined) return { kind: 'busy' }
  const stopped = AbortSignal.any([signal, rebuild.lost])
  try {
    return await build(rebuild, { ...dependencies, signal: stopped })
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped' }
    if (rebuild.lost.aborted) return { kind: 'busy' }
    throw error
  } finally {
    await rebuild.end()
  }
}

async function build(rebuild: Rebuild, dependencies: Dependencies): Promise<RebuildOutcome> {
  const before = await dependencies.store.openGeneration(rebuild.from)
  const after = await dependencies.store.openGeneration(rebuild.to)
  try {
    return await buildAndCompare(rebuild, { before, after }, dependencies)
  } finally {
    await before.close()
    await after.close()
  }
}

async function buildAndCompare(
  rebuild: Rebuild,
  { before, after }: { before: Generation; after: Generation },
  dependencies: Dependencies,
): Promise<RebuildOutcome> {
  const { eventLog, store, clock, force, screen, signal } = dependencies
  const retentionDays = await store.retentionDays()
  // Omits records that retention may remove from one generation while the other is read.
  const receivedSince =
    retentionDays === undefined ? -Infinity : clock.now() + HOUR_MS - retentionDays * DAY_MS
  const origins = await before.origins({ receivedSince })
  const extent = await eventLog.extent()
  const unfit = await findUnfitReason(eventLog, before)
  const missing = unfit ?? findMissingEntries(origins, extent)
  if (missing !== undefined && !force) return { kind: 'log too short', reason: missing }

  const cover: Cover = {
    upTo: endOf(extent),
    receivedSince,
    partial: retentionDays !== undefined || extent.some(({ whole }) => !whole),
  }
  const old = { generation: rebuild.from, readModels: before }
  const built = { generation: rebuild.to, readModels: after }
  const building = startProjecting(built, { ...dependencies, knownUpTo: cover.upTo })
  try {
    await building.waitUntil(cover.upTo, { what: `building generation ${rebuild.to}`, extent })
    // Never project a log into read models that it cannot continue.
    if (unfit === undefined) await catchUp(old, cover.upTo, extent, dependencies)

    screen.write('comparing the generations as of the start\n')
    const digests = await digestsOf({ before, after }, cover, signal)
    // Read last, because a projector of another version may have started meanwhile.
    const comparesDevices = (await before.foldVersion()) === (await after.foldVersion())
    const equal = isEqual(digests, comparesDevices ? ['records', 'devices'] : ['records'])
    const compared = { from: rebuild.from, to: rebuild.to, ...digests, comparesDevices, equal }
    if (!compared.equal && !force) return { kind: 'different', compared }

    await rebuild.settleErasures()
    // After the switch no event that was visible before may be missing.
    const shown = await before.checkpoint()
    await building.waitUntil(lowerOffsets(shown, endOf(await eventLog.extent())))
    signal.throwIfAborted()
    await rebuild.switchOver()
    screen.write('switched, waiting until every process has followed\n')
    await pause(dependencies.followedAfterMs)
    return { kind: 'switched', compared }
  } finally {
    await building.stop()
  }
}

/** Explains why the log cannot continue these read models; undefined if it can. */
async function findUnfitReason(
  eventLog: KnownLog,
  readModels: Generation,
): Promise<string | undefined> {
  const otherLog = await findOtherLogReason(eventLog, await readModels.lastApplied())
  if (otherLog !== undefined) return otherLog
  const gap = await findGapBefore(eventLog, await readModels.checkpoint())
  return gap && `the log no longer holds ${gap}, which the read models in use lack`
}

type Numbered = { readonly generation: number; readonly readModels: Generation }

/** Projects the log into a generation in the background. */
function startProjecting(
  { generation, readModels }: Numbered,
  {
    eventLog,
    store,
    metrics,
    logger,
    screen,
    signal,
    knownUpTo,
  }: Dependencies & { knownUpTo: Offsets },
) {
  const stop = new AbortController()
  const silent = logger.child({}, { level: 'silent' })
  const projecting = runProjector({
    eventLog,
    store: readModels,
    settings: store,
    // The current generation handles erasures up to the start. The new one may reach later
    // erasures first, and become current before the old one has reached these.
    settingsForgottenUpTo: knownUpTo,
    keepDeadLetters: keepDeadLetters({
      deadLetters: eventLog.deadLetters,
      metrics,
      logger: silent,
      keptUpTo: knownUpTo,
    }),
    generation,
    waits: false,
    metrics,
    signal: stop.signal,
  })
  const failed = projecting.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)

  return {
    /** Resolves when the generation has reached `target`; optionally shows the progress. */
    async waitUntil(target: Offsets, shown?: { what: string; extent: readonly Extent[] }) {
      const now = () => performance.now()
      const begun = now()
      const progress = showProgress({ screen, now })
      try {
        for (;;) {
          signal.throwIfAborted()
          const offsets = await readModels.checkpoint()
          if (shown !== undefined) {
            const events = eventsDone(offsets, shown.extent)
            progress.show(
              () => `${shown.what}: ${progressText({ ...events, elapsedMs: now() - begun })}`,
              { isLast: events.done >= events.total },
            )
          }
          if (hasReached(offsets, target)) return
          await Promise.race([failed, pause(LOOK_EVERY_MS, undefined, { signal })])
        }
      } finally {
        progress.end()
      }
    },

    async stop(): Promise<void> {
      stop.abort()
      await projecting.catch(() => undefined)
    },
  }
}

/** Brings the current generation up to date, in case no projector is running. */
async function catchUp(
  old: Numbered,
  target: Offsets,
  extent: readonly Extent[],
  dependencies: Dependencies,
): Promise<void> {
  if (hasReached(await old.readModels.checkpoint(), target)) return
  const projecting = startProjecting(old, { ...dependencies, knownUpTo: {} })
  try {
    await projecting.waitUntil(target, {
      what: `bringing generation ${old.generation} up to date`,
      extent,
    })
  } finally {
    await projecting.stop()
  }
}

function isEqual(
  { before, after }: { before: Digest; after: Digest },
  compared: readonly (keyof Digest)[],
): boolean {
  return compared.every(
    (what) => before[what].count === after[what].count && before[what].hash === after[what].hash,
  )
}
