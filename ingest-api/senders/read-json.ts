import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'

/** A parsed body and its raw bytes. */
export type JsonBody = { readonly json: unknown; readonly chunks: readonly Buffer[] }

/**
 * Reads a JSON body; checks media type, encoding, size and UTF-8 before it parses. A body-parser
 * would decode invalid bytes to U+FFFD and so turn one device's id into another's. The bytes go
 * into `chunks` as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400.
 */
export async function readJson(
  ctx: HttpContext,
  { limitBytes, chunks }: { limitBytes: number; chunks: Buffer[] },
): Promise<JsonBody> {
  const type = ctx.request.type.toLowerCase()
  if (type !== 'application/json' && !/^application\/[\w.!#$&^-]+\+json$/.test(type)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body as Content-Type: application/json')
  }
  const encoding = ctx.get('content-encoding').toLowerCase()
  if (encoding !== '' && encoding !== 'identity') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body without a Content-Encoding')
  }
  const bytes = await readBytes(ctx.req, { limitBytes, chunks })
  if (bytes.length === 0) throw bodyFault('the body is empty: send a JSON object')
  if (!isUtf8(bytes)) throw bodyFault('the body must be UTF-8')
  try {
    return { json: JSON.parse(bytes.toString('utf8')) as unknown, chunks }
  } catch {
    throw bodyFault('the body must be well-formed JSON')
  }
}

function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}

/** Collects the body in `chunks` and returns it as one buffer. */
function readBytes(
  request: IncomingMessage,
  { limitBytes, chunks }: { limitBytes: number; chunks: Buffer[] },
): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError('PAYLOAD_TOO_LARGE', `the body must not be larger than ${limitBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(tooLarge())
  }
  return new Promise((resolve, reject) => {
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limitBytes) return
      stop()
      request.resume()
      reject(tooLarge())
    }
    const onEnd = () => {
      stop()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    const onCut = () => {
      stop()
      reject(bodyFault('the body ended before it was complete'))
    }
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut)
      request.on('error', () => undefined)
    }
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut)
  })
}
