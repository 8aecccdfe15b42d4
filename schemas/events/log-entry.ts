import type { DeviceErased } from './device-erased.ts'
import type { DeviceSeen } from './device-seen.ts'
import type { DeviceFact } from '../facts/facts.ts'
import type { PositionReported } from './position-reported.ts'
import type { Origin } from '../devices/read-models.ts'

// Events with their positions in the log.

export type PositionEntry = {
  readonly kind: 'position'
  readonly origin: Origin
  readonly event: PositionReported
  /**
   * It waited in a spool: withdrawn if received before an erasure of its device (`isWithdrawn`).
   */
  readonly spooled?: true
}

/** A position whose record was created by another event: the device repeats a report. */
export type RepeatEntry = Omit<PositionEntry, 'kind'> & { readonly kind: 'repeat' }

/** A heartbeat. */
export type SeenEntry = {
  readonly kind: 'seen'
  readonly origin: Origin
  readonly event: DeviceSeen
  /** Same as in `PositionReported`. */
  readonly spooled?: true
}

export type ErasureEntry = {
  readonly kind: 'erasure'
  readonly origin: Origin
  readonly event: DeviceErased
}

/** A fact with its position in the log of facts. */
export type FactEntry = {
  readonly kind: 'fact'
  readonly origin: Origin
  readonly event: DeviceFact
}

/** An entry sent by a device. */
export type ReportEntry = PositionEntry | SeenEntry

/** An entry from which the read models are built. */
export type ProjectionEntry = ReportEntry | ErasureEntry

/** An entry that is not an event, or does not match its type. */
export type UnreadableEntry = {
  readonly kind: 'unreadable'
  readonly origin: Origin
  readonly reason: string
  /**
   * The variable that this process lacks to read the entry. The entry itself is valid, so it is not
   * a dead letter, and the log is not ready from then on.
   */
  readonly missing?: 'SCHEMA_REGISTRY_URL'
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  /** The entry's headers, in logs that store them separately. */
  readonly headers?: Readonly<Record<string, unknown>>
}
