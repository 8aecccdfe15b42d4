import type { IncomingMessage } from 'node:http'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import { codingOf, inflated, MOST_OVERHEAD_BYTES, type Coding } from './content-coding.ts'

/**
 * Reads a body of at most `limitBytes`, counted after decompression. The bytes go into `chunks`
 * as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400.
 */
export function readBody(
  ctx: HttpContext,
  { limitBytes, chunks }: { limitBytes: number; chunks: Buffer[] },
): Promise<Buffer> {
  const coding = codingOf(ctx.get('content-encoding'))
  const tooLarge = () =>
    new ApiError('PAYLOAD_TOO_LARGE', `the body must not be larger than ${limitBytes} bytes`)
  if (coding === 'identity') return readBytes(ctx.req, { limitBytes, chunks, tooLarge })
  return readCompressed(ctx.req, { coding, limitBytes, chunks, tooLarge })
}

type Limit = { limitBytes: number; chunks: Buffer[]; tooLarge: () => ApiError }

async function readCompressed(
  request: IncomingMessage,
  { coding, limitBytes, chunks, tooLarge }: Limit & { coding: Coding },
): Promise<Buffer> {
  const most = limitBytes + MOST_OVERHEAD_BYTES
  const compressed = await readBytes(request, { limitBytes: most, chunks: [], tooLarge })
  if (compressed.length === 0) return compressed
  const body = await inflated(compressed, { coding, limitBytes, tooLarge })
  chunks.push(body)
  return body
}

/** Collects the body in `chunks` and returns it as one buffer. */
function readBytes(
  request: IncomingMessage,
  { limitBytes, chunks, tooLarge }: Limit,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(tooLarge())
  }
  // A small body has come with its headers.
  if (request.complete) {
    const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0)
    chunks.push(bytes)
    return bytes.length > limitBytes ? Promise.reject(tooLarge()) : Promise.resolve(bytes)
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

/** 400 for a fault of the body as a whole. */
export function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}
