/** A request of the page to the worker that reads files. `more`: the batch before has been sent. */
export type HistoryOrder =
  | {
      readonly kind: 'read'
      readonly files: readonly File[]
      /** The device of all points; empty: the files name theirs. */
      readonly deviceId: string
      /** Otherwise they are only counted. */
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
  /** What is left out and why, with the first place of each. */
  readonly leftOut: readonly {
    readonly reason: string
    /** 0: it is about a whole file. */
    readonly count: number
    readonly where: string
  }[]
  /** Some of the places, in their order. */
  readonly places: readonly (readonly [latitude: number, longitude: number])[]
}
