import type { Fault } from '../../runtime/errors.ts'
import type { parsePositionReport } from '../../schemas/position-report.ts'

/** One report as sent. */
export type SubmittedReport = SubmittedPosition | SubmittedHeartbeat

export type SubmittedPosition = {
  readonly json: unknown
  /** The raw body, if it holds this report alone. A rejection shows it, or else the JSON. */
  readonly chunks?: readonly Buffer[]
  readonly idempotencyKey?: string | undefined
  /** Faults found outside the JSON, such as in a header. */
  readonly faults?: readonly Fault[]
  /**
   * What was read from `json`, if that is not in our format. Apps send a point again with another
   * battery level, so its recordId is of device, time and place alone.
   */
  readonly translated?: ReturnType<typeof parsePositionReport>
  /** The device that such a report names, for a rejection. */
  readonly deviceId?: string | undefined
}

/** A device was heard of without a position. One of each device is appended for a request. */
export type SubmittedHeartbeat = {
  /** The device id; what is wrong with it refuses the heartbeat. */
  readonly seen: string
  /** As of a position. */
  readonly chunks?: readonly Buffer[]
}
