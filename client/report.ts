/** A position of a device, as `POST /api/v1/gps/submit` accepts it. */
export type Report = {
  /** The device's id: 1 to 128 characters. */
  readonly deviceId: string
  /** WGS84 degrees. */
  readonly latitude: number
  readonly longitude: number
  /** When the position was recorded, in ISO 8601; by default the time of receipt. */
  readonly timestamp?: string | undefined
  /** Metres. */
  readonly accuracy?: number | undefined
  readonly altitude?: number | undefined
  /** Metres per second. */
  readonly speed?: number | undefined
  /** Degrees from north, 0 to 360. */
  readonly heading?: number | undefined
  /** A fraction from 0 to 1. */
  readonly battery?: number | undefined
  /** Other data of the device, under any names; some have a meaning: `odometer`, `alarm`, … */
  readonly attributes?: Readonly<Record<string, string | number | boolean | null>> | undefined
}

/** A report that the service recognises when it is sent again, alone or in any batch. */
export type TimedReport = Report & { readonly timestamp: string }

/** The outcome of a report. */
export type ReportOutcome =
  | { readonly kind: 'accepted'; readonly recordId: string; readonly receivedAt: string }
  /** The service would refuse it again. */
  | ({ readonly kind: 'refused' } & ReportRefusal)
  /** No usable response arrived for too long. The report may have been stored all the same. */
  | { readonly kind: 'given-up'; readonly reason: string }
  /** The caller's signal was aborted. The report may have been stored all the same. */
  | { readonly kind: 'stopped' }

export type ReportRefusal = {
  /** The error's identifier, for example `INVALID_PARAMS`. */
  readonly error: string
  readonly message: string
}
