/**
 * A request of the page to the worker that reads files. `more`: the previous batch has been sent.
 */
export type HistoryOrder =
  | {
      readonly kind: 'read'
      readonly files: readonly File[]
      /** The device of all points; if empty, the files name the devices. */
      readonly deviceId: string
      /** Whether to send the points, or only count them. */
      readonly isSent: boolean
    }
  | { readonly kind: 'more' }

export type HistoryAnswer =
  | { readonly kind: 'progress'; readonly bytes: number; readonly points: number }
  | { readonly kind: 'batch'; readonly reports: readonly object[] }
  | { readonly kind: 'done'; readonly found: FoundHistory }

/** The content of files. */
export type FoundHistory = {
  readonly points: number
  readonly devices: readonly {
    readonly deviceId: string
    readonly count: number
    readonly from: string
    readonly to: string
  }[]
  /** Skipped items by reason, each with the first location. */
  readonly leftOut: readonly {
    readonly reason: string
    /** Number of items; 0 if the reason concerns the whole file. */
    readonly count: number
    readonly where: string
  }[]
  /** A sample of the positions, in order. */
  readonly places: readonly (readonly [latitude: number, longitude: number])[]
}
