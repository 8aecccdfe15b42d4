import type { Logger } from 'pino'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { PositionEntry, ProjectionBatch, ProjectionEntry, ReadModels } from '../read-models.ts'
import type { Collections, ReadModelCollections } from './collections.ts'
import { foldStatuses } from './device-statuses.ts'
import { eraseDevices } from './erase-devices.ts'
import { isErased, type ErasureEntry } from './erased.ts'
import { findPosition, pagePositions } from './position-records.ts'
import { removeExpired, type Kept } from './retention.ts'
import { storeRecords, withdrawRecords } from './store-records.ts'

/**
 * The read models of the current generation. Records are written first and device statuses second,
 * each so that doing it again changes nothing: after a crash in between, the batch is delivered
 * again, its records are found to be its own, and the statuses are folded then.
 */
export function mongoReadModels({
  collections,
  readModels,
  kept,
  logger,
}: {
  collections: Collections
  readModels: () => Promise<ReadModelCollections>
  kept: () => Kept
  logger: Logger
}): Omit<ReadModels, 'checkpoint'> {
  const { hiddenDevices } = collections
  return {
    project: async (batch) => project(await readModels(), batch, logger),

    expire: async (receivedBefore) =>
      removeExpired(await readModels(), collections, receivedBefore),

    findPosition: async (query) =>
      findPosition({ ...(await readModels()), hiddenDevices }, query, kept().positions),

    pagePositions: async (query) =>
      pagePositions({ ...(await readModels()), hiddenDevices }, query, kept().positions),
  }
}

/**
 * Erasures first, records second, device statuses third; gives how many records were stored and
 * repeated. Positions that stand before an erasure are neither: those of the batch are not stored,
 * and those that only the statuses tell of (another projector has the partition by now, and has
 * erased the device) are taken away again.
 */
export async function project(
  readModels: ReadModelCollections,
  { partition, lastOffset, entries, fold }: ProjectionBatch,
  logger: Logger,
): ReturnType<ReadModels['project']> {
  const onConflict = (attempt: number) =>
    logger.warn(
      { partition, lastOffset, attempt },
      'device statuses changed by another projector, folding again',
    )
  const erased = await eraseDevices(readModels, entries.filter(isErasure), { fold, onConflict })
  const positions = entries.filter(isPosition).filter(({ origin, event }) => {
    const { receivedAt } = event
    return !isErased(erased.get(deviceKey(event)), { origin, receivedAt })
  })
  const { counting, stored } = await storeRecords(readModels, positions)
  const late = await foldStatuses(readModels.deviceStatuses, counting, { fold, onConflict })
  await withdrawRecords(readModels.positions, late)
  return { stored, repeated: positions.length - counting.length }
}

function isErasure(entry: ProjectionEntry): entry is ErasureEntry & { kind: 'erasure' } {
  return entry.kind === 'erasure'
}

function isPosition(entry: ProjectionEntry): entry is PositionEntry {
  return entry.kind === 'position'
}
