import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../runtime/errors.ts'
import type { Load } from '../../runtime/load.ts'
import { bodyFault, readBody } from './read-body.ts'
import { mediaTypeOf, type SenderRequest } from './sender-request.ts'

/** A parsed body and its bytes, decompressed. */
export type JsonBody = { readonly json: unknown; readonly chunks: readonly Buffer[] }

/**
 * Reads a JSON body; checks media type, encoding, size and UTF-8 before it parses. A body-parser
 * would decode invalid bytes to U+FFFD and so turn one device's id into another's. The bytes go
 * into `chunks` as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400; 503 if there is no room for it.
 */
export async function readJson(
  request: SenderRequest,
  { limitBytes, chunks, load }: { limitBytes: number; chunks: Buffer[]; load: Load },
): Promise<JsonBody> {
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && !/^application\/[\w.!#$&^-]+\+json$/.test(type)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body as Content-Type: application/json')
  }
  const bytes = await readBody(request, { limitBytes, chunks, load })
  if (bytes.length === 0) throw bodyFault('the body is empty: send a JSON object')
  if (!isUtf8(bytes)) throw bodyFault('the body must be UTF-8')
  try {
    return { json: JSON.parse(bytes.toString('utf8')) as unknown, chunks }
  } catch {
    throw bodyFault('the body must be well-formed JSON')
  }
}
