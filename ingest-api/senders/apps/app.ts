import type { Fields } from './fields.ts'
import type { Measured } from './values.ts'

/** What an app has sent besides the body, without its key. */
export type AppHead = {
  readonly query: Fields
  /** Of the path. */
  readonly parameters: Fields
  readonly header: (name: string) => string
  /** Of the body, in lower case and without parameters. */
  readonly mediaType: string
  /** Whether the key came as `Basic <key>:`, not encoded. */
  readonly literalBasic: boolean
}

/** The body is decompressed, and UTF-8. */
export type AppRequest = AppHead & { readonly body: Buffer }

/** A position as an app has sent it. Its measurements are in our units, and within their ranges. */
export type SentPoint = {
  readonly kind: 'point'
  readonly deviceId: string | undefined
  /** As sent, to be named if it is wrong. */
  readonly latitude: unknown
  readonly longitude: unknown
  /** In milliseconds; undefined means the time of receipt, NaN that `sentTime` is none. */
  readonly time: number | undefined
  readonly sentTime: unknown
  readonly measured: Measured
  /** What a rejection shows. */
  readonly sent: unknown
}

/** What a request says. */
export type Said =
  | SentPoint
  /** The device lives; no position. */
  | { readonly kind: 'seen'; readonly deviceId: string | undefined }
  /** Something that cannot be taken for either. */
  | {
      readonly kind: 'malformed'
      readonly deviceId?: string | undefined
      readonly message: string
      readonly sent: unknown
    }

/** What an app needs as the answer to what was taken, or can never be. */
export type AppAnswer = { readonly status: number; readonly body: string }

export const EMPTY: AppAnswer = { status: 200, body: '' }
export const EMPTY_LIST: AppAnswer = { status: 200, body: '[]' }
export const RESULT_OK: AppAnswer = { status: 200, body: '{"result":"ok"}' }

/** Further points of a request are refused: to judge them all would keep everybody waiting. */
const MOST_POINTS = 10_000

/** The points of a request that are looked at, and what to say of the others. */
export function boundedPoints(points: readonly unknown[]): {
  readonly points: readonly unknown[]
  readonly beyond: readonly Said[]
} {
  const more = points.length - MOST_POINTS
  if (more <= 0) return { points, beyond: [] }
  const message = `a request may have ${MOST_POINTS} points: ${more} more were sent`
  const beyond = [{ kind: 'malformed', message, sent: undefined } as const]
  return { points: points.slice(0, MOST_POINTS), beyond }
}

/** One way of sending. It only translates: who may report, limits and the log are others' work. */
export type App = {
  /** In metrics. */
  readonly name: string
  /** The largest body, after decompression. */
  readonly limitBytes: number
  /** Never throws. */
  readonly read: (request: AppRequest) => readonly Said[]
  readonly answer: (head: AppHead) => AppAnswer
  /** The app deletes what is answered with a 4xx. */
  readonly never4xx?: boolean
}
