import { livenessOf, type Liveness } from './liveness.ts'
import type { MEASUREMENTS, PositionReported } from './position-reported.ts'

/** The place of an event in the log. */
export type Origin = { readonly partition: number; readonly offset: number }

/** The last offset processed in each partition; a missing partition has none yet. */
export type Offsets = Readonly<Record<number, number>>

/** The last event applied of each partition: its offset and its id. */
export type AppliedEvents = Readonly<
  Record<number, { readonly offset: number; readonly id: string }>
>

/** A stored position: its event and the event's origin. */
export type PositionRecord = PositionReported & { readonly origin: Origin }

/** The fields of a record that the device status shows. */
export type LastPosition = Pick<
  PositionReported,
  'recordId' | 'latitude' | 'longitude' | 'timestamp' | 'receivedAt' | (typeof MEASUREMENTS)[number]
>

/** The status of a device, a pure fold over its events. Times in milliseconds. */
export type DeviceStatus = {
  readonly accountId: string
  readonly deviceId: string
  readonly firstSeenAt: number
  /** The newest `receivedAt` of the device's records. */
  readonly lastSeenAt: number
  /** Stored records, each once. */
  readonly reportCount: number
  readonly lastPosition: LastPosition
  /** The last offset folded, per partition; folding an event again changes nothing. */
  readonly applied: Offsets
}

/** Settings by operators; never written by a fold. */
export type DeviceSettings = {
  readonly name?: string
  readonly disabled: boolean
  readonly expectedIntervalSeconds?: number
}

/** A device as operators see it. */
export type Device = { readonly status: DeviceStatus; readonly settings: DeviceSettings }

/** Whether the device is alive, seen from `now`. */
export function liveness({ status, settings }: Device, now: number): Liveness {
  const { expectedIntervalSeconds } = settings
  return livenessOf({ lastSeenAt: status.lastSeenAt, expectedIntervalSeconds }, now)
}
