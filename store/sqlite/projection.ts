import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { copyHeartbeats, type DeviceStatus } from '../../schemas/devices/read-models.ts'
import type {
  Change,
  ErasureEntry,
  PositionEntry,
  ProjectionBatch,
  ProjectionEntry,
  ReportEntry,
  SeenEntry,
} from '../read-models.ts'
import type { AppliedErasures, ErasureTime } from './erasures.ts'
import type { Records } from './records.ts'
import type { KnownDevice, RememberedDevices } from './remembered-devices.ts'

export type Tables = {
  readonly records: Records
  readonly devices: Pick<RememberedDevices, 'find' | 'save' | 'remove' | 'apply'>
  readonly erasures: Pick<AppliedErasures, 'isApplied'>
}

type DeviceState = Pick<Change, 'accountId' | 'deviceId' | 'before'> & {
  after: DeviceStatus | undefined
  stored: PositionEntry[]
  seen: SeenEntry[]
  readonly repeated: ProjectionEntry[]
  readonly erased: ErasureEntry[]
}

/** A device of the batch, and its erasures applied so far. */
type InBatch = {
  readonly state: DeviceState
  readonly known: KnownDevice
  erasures: readonly ErasureTime[]
}

/**
 * Stores the entries' records and folds each newly stored one, each repeat and each heartbeat into its device,
 * in the order of the log; an erasure resets the device as if it had never reported.
 */
export function projectEntries(
  { entries, fold }: Pick<ProjectionBatch, 'entries' | 'fold'>,
  { records, devices, erasures }: Tables,
): readonly Change[] {
  const batch = new Map<string, InBatch>()

  function deviceOf({ event }: ProjectionEntry): InBatch {
    const key = deviceKey(event)
    const met = batch.get(key)
    if (met !== undefined) return met
    const { accountId, deviceId } = event
    const known = devices.find(event, key)
    const before = known.status
    const state = {
      accountId,
      deviceId,
      before,
      after: before,
      stored: [],
      seen: [],
      repeated: [],
      erased: [],
    }
    const device = { state, known, erasures: known.erasures }
    batch.set(key, device)
    return device
  }

  function erase(entry: ErasureEntry): void {
    const device = deviceOf(entry)
    const { state, known } = device
    // Only the first copy of an erasure in the log counts: later copies would erase newer reports.
    if (erasures.isApplied(entry.event.eventId)) {
      state.repeated.push(entry)
      return
    }
    devices.remove(known, entry.event)
    while (records.removeErased(entry, known.number)) continue
    devices.apply(entry)
    const { origin, event } = entry
    device.erasures = [
      ...device.erasures,
      { partition: origin.partition, erasedAt: event.erasedAt },
    ]
    const before = state.after
    state.after = undefined
    state.stored = []
    state.seen = []
    state.erased.push(entry)
    // The remaining records came after the erasure, in another partition.
    for (const left of records.ofDevice(known.number, entry.event)) {
      state.after = fold(state.after, { kind: 'position', ...left })
    }
    state.after &&= copyHeartbeats(
      before,
      state.after,
      ({ origin, receivedAt }) =>
        origin.partition === entry.origin.partition || receivedAt <= entry.event.erasedAt,
    )
  }

  for (const entry of entries) {
    if (entry.kind === 'erasure') {
      erase(entry)
      continue
    }
    const { state, known, erasures: applied } = deviceOf(entry)
    if (isErased(entry, applied)) continue
    if (entry.kind === 'seen') {
      const after = fold(state.after, entry)
      if (after !== state.after) state.seen.push(entry)
      state.after = after
      continue
    }
    if (!records.insert(entry, known)) {
      state.repeated.push(entry)
      state.after = fold(state.after, { ...entry, kind: 'repeat' })
      continue
    }
    state.stored.push(entry)
    state.after = fold(state.after, entry)
  }
  const changes: Change[] = []
  for (const { state, known } of batch.values()) {
    const { before, after } = state
    if (after !== undefined && after !== before) devices.save(known, after)
    if (isReported(state)) changes.push(state)
  }
  return changes
}

/** False for an unaffected device, for example after a heartbeat without effect. */
function isReported({ stored, seen, repeated, erased }: Change): boolean {
  return stored.length + seen.length + repeated.length + erased.length > 0
}

/** Offsets of different partitions are not comparable, so between partitions the time decides. */
function isErased(entry: ReportEntry, erasures: readonly ErasureTime[]): boolean {
  const { origin, event } = entry
  return erasures.some(
    ({ partition, erasedAt }) =>
      isWithdrawn(entry, erasedAt) ||
      (partition !== origin.partition && event.receivedAt <= erasedAt),
  )
}
