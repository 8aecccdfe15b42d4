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

/** Whether a device is alive, seen from `now`. */
export type Liveness = 'online' | 'idle' | 'offline'

const MINUTE_MS = 60_000

/** How long a device may be silent: `longestMs`, or `intervals` if an interval is expected. */
export const SILENCE = {
  online: { longestMs: 5 * MINUTE_MS, intervals: 2, leastMs: MINUTE_MS },
  idle: { longestMs: 60 * MINUTE_MS, intervals: 10, leastMs: 5 * MINUTE_MS },
} as const

/**
 * `online` up to 5 minutes after the last report, `idle` up to 60, else `offline`. With an expected
 * interval: online up to twice that (at least 60 s), offline after ten times that (at least 300 s).
 */
export function liveness(device: Device, now: number): Liveness {
  const silentMs = now - device.status.lastSeenAt
  const expected = device.settings.expectedIntervalSeconds
  const mayBe = ({ longestMs, intervals, leastMs }: (typeof SILENCE)[keyof typeof SILENCE]) =>
    silentMs <=
    (expected === undefined ? longestMs : Math.max(intervals * 1_000 * expected, leastMs))
  if (mayBe(SILENCE.online)) return 'online'
  return mayBe(SILENCE.idle) ? 'idle' : 'offline'
}
