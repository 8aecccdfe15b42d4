import type { Fields } from './fields.ts'
import type { SentAttributes } from './sent-attributes.ts'
import type { SentMeasurements } from './values.ts'

/** A request of an app apart from its body, without its key. */
export type AppHead = {
  readonly query: Fields
  /** The parameters of the path. */
  readonly parameters: Fields
  readonly header: (name: string) => string
  /** The media type of the body, in lower case and without parameters. */
  readonly mediaType: string
  /** Whether the key came as `Basic <key>:`, not encoded. */
  readonly literalBasic: boolean
}

/** The body is decompressed, valid UTF-8 (but for files in multipart), and without a byte order mark. */
export type AppRequest = AppHead & { readonly body: Buffer }

/** A position as an app has sent it. Its measurements are in our units and within their ranges. */
export type SentPoint = {
  readonly kind: 'point'
  readonly deviceId: string | undefined
  /** As sent, for the message if it is invalid. */
  readonly latitude: unknown
  readonly longitude: unknown
  /** In milliseconds; undefined means the time of receipt, NaN that `sentTime` is not a time. */
  readonly time: number | undefined
  readonly sentTime: unknown
  readonly measured: SentMeasurements
  readonly attributes?: SentAttributes
  /** The JSON that a rejection shows. */
  readonly sent: unknown
}

/** One item of a request. */
export type AppItem =
  | SentPoint
  /** A sign of life without a position. */
  | {
      readonly kind: 'seen'
      readonly deviceId: string | undefined
      readonly battery?: number | undefined
      readonly attributes?: SentAttributes
      /** The device has marked its position as no fix. */
      readonly isWithoutFix?: true
      /** If nothing is known of the device, this would vanish: it is rejected with this message and JSON. */
      readonly ifUnknown?: { readonly message: string; readonly sent: unknown }
    }
  /** Anything else. */
  | {
      readonly kind: 'malformed'
      readonly deviceId?: string | undefined
      readonly message: string
      readonly sent: unknown
    }

/** The answer that an app needs for reports that were accepted, or that never can be: JSON, or nothing. */
export type AppAnswer = { readonly status: number; readonly body: string }

export const EMPTY: AppAnswer = { status: 200, body: '' }
export const EMPTY_LIST: AppAnswer = { status: 200, body: '[]' }
export const RESULT_OK: AppAnswer = { status: 200, body: '{"result":"ok"}' }

/** Further points of a request are refused: judging them all would delay other requests. */
const MOST_POINTS = 10_000

/** The points of a request to judge, and an item that refuses the others. */
export function boundedPoints(points: readonly unknown[]): {
  readonly points: readonly unknown[]
  readonly beyond: readonly AppItem[]
} {
  const more = points.length - MOST_POINTS
  if (more <= 0) return { points, beyond: [] }
  const message = `a request may have ${MOST_POINTS} points: ${more} more were sent`
  const beyond = [{ kind: 'malformed', message, sent: undefined } as const]
  return { points: points.slice(0, MOST_POINTS), beyond }
}

/** The format of an app. It only translates: other files handle authorization, limits and the log. */
export type SenderApp = {
  /** The name in metrics. */
  readonly name: string
  /** The largest body, after decompression. */
  readonly limitBytes: number
  /** Never throws. */
  readonly read: (request: AppRequest) => readonly AppItem[]
  readonly answer: (head: AppHead) => AppAnswer
  /** Whether it sends files, such as photos, as `multipart/form-data`. */
  readonly takesFiles?: true
  /** Whether the app deletes its data on a 4xx. */
  readonly never4xx?: boolean
}
