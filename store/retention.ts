import { DependencyError } from '../runtime/errors.ts'

/**
 * Time for which an erasure is remembered after the records it covers have expired: Kafka removes
 * events in segments of a day, and an event that waited in a spool comes after newer ones.
 */
export const ERASURES_KEPT_LONGER_MS = 2 * 24 * 60 * 60 * 1_000

/**
 * The life of an erased device is remembered for longer than the maximum duration of a share, 30
 * days.
 */
export const LIVES_KEPT_LONGER_MS = 33 * 24 * 60 * 60 * 1_000

/**
 * The number of days for which records are kept, or `off` to keep them forever; undefined if not
 * configured.
 */
export type WantedRetention = number | 'off' | undefined

/**
 * Returns the number of days to keep records for; undefined: forever. A retention already set in
 * the store is never dropped silently, because records would then pile up unnoticed.
 * @throws {DependencyError} not retriable if the store has one and none is configured.
 */
export function settleRetention(
  wanted: WantedRetention,
  stored: number | undefined,
): number | undefined {
  if (wanted === 'off') return undefined
  if (wanted === undefined && stored !== undefined) {
    throw new DependencyError(
      `the store keeps records for ${stored} days and RETENTION_DAYS is not set: ` +
        `set RETENTION_DAYS=${stored} to keep it so, or RETENTION_DAYS=off to keep records forever`,
      { retriable: false },
    )
  }
  return wanted
}
