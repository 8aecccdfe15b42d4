import type { Logger } from 'pino'
import type { ProjectionBatch, ReadModels } from '../store.ts'
import type { Collections, ReadModelCollections } from './collections.ts'
import { foldStatuses } from './device-statuses.ts'
import { findPosition, pagePositions, storeRecords } from './position-records.ts'
import { removeExpired, type Kept } from './retention.ts'

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
  return {
    project: async (batch) => project(await readModels(), batch, logger),

    expire: async (receivedBefore) =>
      removeExpired(await readModels(), collections, receivedBefore),

    findPosition: async (query) =>
      findPosition((await readModels()).positions, query, kept().positions),

    pagePositions: async (query) =>
      pagePositions((await readModels()).positions, query, kept().positions),
  }
}

/** Records first and device statuses second; gives how many records were stored and repeated. */
export async function project(
  { positions, deviceStatuses }: ReadModelCollections,
  { partition, lastOffset, entries, fold }: ProjectionBatch,
  logger: Logger,
): ReturnType<ReadModels['project']> {
  const { counting, stored } = await storeRecords(positions, entries)
  await foldStatuses(deviceStatuses, counting, {
    fold,
    onConflict: (attempt) =>
      logger.warn(
        { partition, lastOffset, attempt },
        'device statuses changed by another projector, folding again',
      ),
  })
  return { stored, repeated: entries.length - counting.length }
}
