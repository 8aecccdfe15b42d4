import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import type { PositionEntry, ProjectionBatch } from '../read-models.ts'
import type { DeviceStatuses } from './device-statuses.ts'
import type { AppliedErasures, ErasureEntry, ErasureTime } from './erasures.ts'
import type { Records } from './records.ts'

export type Tables = {
  readonly records: Records
  readonly statuses: DeviceStatuses
  readonly erasures: AppliedErasures
}

type DeviceState = {
  /** As it was stored. */
  readonly before: DeviceStatus | undefined
  after: DeviceStatus | undefined
  /** Applied before this batch: what the batch itself erases stands in its own partition. */
  readonly erased: readonly ErasureTime[]
}

/**
 * Stores the entries' records and folds each that is stored for the first time into its device, in
 * the order of the log; at an erasure the device is as if it had never reported.
 */
export function projectEntries(
  { entries, fold }: Pick<ProjectionBatch, 'entries' | 'fold'>,
  { records, statuses, erasures }: Tables,
): { stored: number; repeated: number } {
  const devices = new Map<string, DeviceState>()
  let stored = 0
  let repeated = 0

  function stateOf({ event }: PositionEntry | ErasureEntry): DeviceState {
    const key = deviceKey(event)
    const known = devices.get(key)
    if (known !== undefined) return known
    const before = statuses.find(event)
    const state = { before, after: before, erased: erasures.times(event) }
    devices.set(key, state)
    return state
  }

  function erase(entry: ErasureEntry): void {
    // Only the first of its copies in the log counts: the others would take what came in between.
    if (erasures.isApplied(entry.event.eventId)) return
    const state = stateOf(entry)
    statuses.remove(entry.event)
    while (records.removeErased(entry)) continue
    erasures.apply(entry)
    state.after = undefined
    // What stays stands behind the erasure, in another partition.
    for (const left of records.ofDevice(entry.event)) {
      state.after = fold(state.after, { kind: 'position', ...left })
    }
  }

  for (const entry of entries) {
    if (entry.kind === 'erasure') {
      erase(entry)
      continue
    }
    const state = stateOf(entry)
    if (isErased(entry, state.erased)) continue
    if (!records.insert(entry)) {
      repeated += 1
      continue
    }
    stored += 1
    state.after = fold(state.after, entry)
  }
  for (const { before, after } of devices.values()) {
    if (after !== undefined && after !== before) statuses.save(after)
  }
  return { stored, repeated }
}

/** Offsets of two partitions say nothing of each other, so there the time decides. */
function isErased({ origin, event }: PositionEntry, erased: readonly ErasureTime[]): boolean {
  return erased.some(
    ({ partition, erasedAt }) => partition !== origin.partition && event.receivedAt <= erasedAt,
  )
}
