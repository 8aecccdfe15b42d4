import { isUtf8 } from 'node:buffer'
import { withoutByteOrderMark } from '../../runtime/byte-order-mark.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { InFlight } from '../../runtime/load.ts'
import { bodyFault, readBody } from './read-body.ts'
import { mediaTypeOf, type SenderRequest } from './sender-request.ts'

/** A parsed body and its bytes, decompressed. */
export type JsonBody = { readonly json: unknown; readonly chunks: readonly Buffer[] }

/**
 * Reads the body of a JSON request; checks media type, encoding and size. The bytes go into `chunks` as they
 * arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400; 503 if there is no room for it.
 */
export async function readJson(
  request: SenderRequest,
  { limitBytes, chunks, load }: { limitBytes: number; chunks: Buffer[]; load: InFlight },
): Promise<Buffer> {
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && !/^application\/[\w.!#$&^-]+\+json$/.test(type)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body as Content-Type: application/json')
  }
  return readBody(request, { limitBytes, chunks, load })
}

/**
 * Checks UTF-8 before it parses. A body-parser would decode invalid bytes to U+FFFD and so turn one
 * device's id into another's.
 * @throws {ApiError} 400.
 */
export function parseJson(body: Buffer): unknown {
  const bytes = withoutByteOrderMark(body)
  if (bytes.length === 0) throw bodyFault('the body is empty: send a JSON object')
  if (!isUtf8(bytes)) throw bodyFault('the body must be UTF-8')
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    throw bodyFault('the body must be well-formed JSON')
  }
}
