import type { SentAttributes } from '../sent-attributes.ts'
import type { SentPoint } from '../sent-point.ts'
import type { Fields } from './fields.ts'
import { isJsonObject } from '../../text/json-object.ts'

/** An app's request except for its body, without its key. */
export type AppHead = {
  readonly query: Fields
  /** The parameters of the path. */
  readonly parameters: Fields
  readonly header: (name: string) => string
  /** The media type of the body, in lower case and without parameters. */
  readonly mediaType: string
  /** Whether the key came as an unencoded `Basic <key>:`. */
  readonly literalBasic: boolean
}

/**
 * The body is decompressed, valid UTF-8 (except for files in multipart), and without a byte order
 * mark.
 */
export type AppRequest = AppHead & { readonly body: Buffer }

/** An item of a request. */
export type AppItem =
  | SentPoint
  /** A sign of life without a position. */
  | {
      readonly kind: 'seen'
      readonly deviceId: string | undefined
      readonly battery?: number | undefined
      readonly attributes?: SentAttributes
      /** The device has flagged its position as having no fix. */
      readonly isWithoutFix?: true
      /** False for a message that an app sends without its tracker. */
      readonly isOfTracker?: false
      /** The message and JSON of the rejection if nothing is known about the device. */
      readonly ifUnknown?: { readonly message: string; readonly sent: unknown }
    }
  /** Anything else. */
  | {
      readonly kind: 'malformed'
      readonly deviceId?: string | undefined
      readonly message: string
      readonly sent: unknown
    }

/** Further points of a request are refused: validating them all would delay other requests. */
const MOST_POINTS = 10_000

/** The points of a request to validate, and an item that rejects the rest. */
export function limitPoints(points: readonly unknown[]): {
  readonly points: readonly unknown[]
  readonly beyond: readonly AppItem[]
} {
  const more = points.length - MOST_POINTS
  if (more <= 0) return { points, beyond: [] }
  const message = `a request may have ${MOST_POINTS} points: ${more} more were sent`
  const beyond = [{ kind: 'malformed', message, sent: undefined } as const]
  return { points: points.slice(0, MOST_POINTS), beyond }
}

/** The fields of a body that is a JSON object; otherwise a malformed item. */
export function parseJsonObject(
  body: Buffer,
): { readonly fields: Record<string, unknown> } | { readonly malformed: AppItem } {
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8'))
  } catch {
    return malformed('the body must be well-formed JSON', undefined)
  }
  if (isJsonObject(json)) return { fields: json }
  return malformed('the body must be a JSON object', json)
}

function malformed(message: string, sent: unknown): { malformed: AppItem } {
  return { malformed: { kind: 'malformed', message, sent } }
}
