import type { OutageLogger } from '../../runtime/process/outage.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type {
  Change,
  ErasureEntry,
  PositionEntry,
  ProjectionBatch,
  ProjectionEntry,
  ReadModels,
  ReportEntry,
} from '../read-models.ts'
import { checkpointOf, findCheckpoint, moveCheckpoint } from './checkpoints.ts'
import type { Collections, Erased, ReadModelCollections } from './collections.ts'
import { foldStatuses, storedDevices } from './device-statuses.ts'
import { eraseDevices } from './erase-devices.ts'
import { isEntryErased } from './erased.ts'
import {
  countPositions,
  findLastPositions,
  findPosition,
  findTrackPoints,
  pagePositions,
  pageTrack,
  readNear,
} from './position-records.ts'
import type { Removal } from './remove-erased.ts'
import { removeExpired, type Kept } from './retention.ts'
import { storeRecords, withdrawRecords } from './store-records.ts'

/**
 * The read models of the current generation. Records are written first and device statuses second,
 * and both writes are idempotent: after a crash in between, the batch is delivered again, its
 * records are recognised as its own, and only then are the statuses folded.
 */
export function mongoReadModels({
  collections,
  readModels,
  kept,
  project,
}: {
  collections: Collections
  readModels: () => Promise<ReadModelCollections>
  kept: () => Promise<Kept>
  project: (
    readModels: ReadModelCollections,
    batch: ProjectionBatch,
  ) => ReturnType<ReadModels['project']>
}): Omit<ReadModels, 'retentionDays'> {
  const { hiddenDevices } = collections
  return {
    checkpoint: async () => checkpointOf(await readModels()),

    project: async (batch) => project(await readModels(), batch),

    expire: async (receivedBefore, { seenBefore = receivedBefore, signal } = {}) =>
      removeExpired(await readModels(), collections, { receivedBefore, seenBefore, signal }),

    findPosition: async (query) =>
      findPosition({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),

    findLastPositions: async (query) =>
      findLastPositions(
        { ...(await readModels()), hiddenDevices },
        query,
        (await kept()).positions,
      ),

    readNear: async (query) =>
      readNear({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),

    pagePositions: async (query) =>
      pagePositions({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),

    pageTrack: async (query) =>
      pageTrack({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),

    findTrackPoints: async (query) =>
      findTrackPoints({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),

    countPositions: async (query) =>
      countPositions({ ...(await readModels()), hiddenDevices }, query, (await kept()).positions),
  }
}

/** Projects, and starts the removal of the records that the batch erases. */
export function projection({ removal, logger }: { removal: Removal; logger: OutageLogger }) {
  return async (readModels: ReadModelCollections, batch: ProjectionBatch) => {
    const changes = await project(readModels, batch, logger)
    if (batch.entries.some(isErasure)) removal.begin(readModels)
    return changes
  }
}

/**
 * Writes erasures first, records second, device statuses (heartbeats included) third, the
 * checkpoint last, and returns the changes. Positions before an erasure are neither stored nor
 * folded. If only the status document shows the erasure (another projector has taken over the
 * partition and erased the device), their records are removed again.
 */
export async function project(
  readModels: ReadModelCollections,
  batch: ProjectionBatch,
  logger: OutageLogger,
): ReturnType<ReadModels['project']> {
  const { partition, lastOffset, entries, fold } = batch
  const onConflict = (attempt: number) =>
    logger.warn(
      { partition, lastOffset, attempt },
      'another process changed the device statuses; applying the batch again',
    )
  const checkpoint = await findCheckpoint(readModels, batch)
  const { changes: erasing, erased } = await eraseDevices(readModels, entries.filter(isErasure), {
    fold,
    onConflict,
  })
  const reports = await dropErased(readModels, entries.filter(isReport), erased)
  const counting = new Set(await storeRecords(readModels, reports.filter(isPosition)))
  const { changes: folding, late } = await foldStatuses(readModels.deviceStatuses, reports, {
    counting,
    fold,
    onConflict,
  })
  await withdrawRecords(readModels.positions, late)
  await moveCheckpoint(readModels, batch, checkpoint)
  return joinChanges(erasing, folding)
}

/**
 * `erased`: the erasures of this batch. Earlier erasures need only be read for reports from a
 * spool: all others come after them in the log.
 */
async function dropErased(
  { deviceStatuses }: ReadModelCollections,
  reports: readonly ReportEntry[],
  erased: ReadonlyMap<string, Erased>,
): Promise<readonly ReportEntry[]> {
  const spooled = reports.filter((entry) => entry.spooled === true).map(({ event }) => event)
  const before = await storedDevices(deviceStatuses, spooled)
  return reports.filter((entry) => {
    const key = deviceKey(entry.event)
    return !isEntryErased(erased.get(key) ?? before.get(key)?.erased, entry)
  })
}

/** Joins the changes into one per device: the erasure first, then the entries after it. */
function joinChanges(erasing: readonly Change[], folding: readonly Change[]): readonly Change[] {
  const changes = new Map(erasing.map((change) => [deviceKey(change), change]))
  for (const change of folding) {
    const earlier = changes.get(deviceKey(change))
    changes.set(deviceKey(change), {
      ...change,
      before: earlier === undefined ? change.before : earlier.before,
      repeated: [...(earlier?.repeated ?? []), ...change.repeated],
      erased: earlier?.erased ?? [],
    })
  }
  return [...changes.values()]
}

function isErasure(entry: ProjectionEntry): entry is ErasureEntry {
  return entry.kind === 'erasure'
}

function isReport(entry: ProjectionEntry): entry is ReportEntry {
  return entry.kind !== 'erasure'
}

function isPosition(entry: ProjectionEntry): entry is PositionEntry {
  return entry.kind === 'position'
}
