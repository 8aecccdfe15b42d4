import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { unavailable, type HttpContext } from '../../runtime/http.ts'
import type { Load } from '../../runtime/load.ts'
import { codingOf, inflated, MOST_OVERHEAD_BYTES, type Coding } from './content-coding.ts'

const SMALL_BYTES = 16 * 1024

/**
 * Reads a body of at most `limitBytes`, counted after decompression. The bytes go into `chunks`
 * as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400; 503 if there is no room for it.
 */
export function readBody(
  ctx: HttpContext,
  { limitBytes, chunks, load }: { limitBytes: number; chunks: Buffer[]; load: Load },
): Promise<Buffer> {
  const coding = codingOf(ctx.get('content-encoding'))
  const tooLarge = () =>
    new ApiError('PAYLOAD_TOO_LARGE', `the body must not be larger than ${limitBytes} bytes`)
  if (coding === 'identity') return readBytes(ctx, { limitBytes, chunks, load, tooLarge })
  return readCompressed(ctx, { coding, limitBytes, chunks, load, tooLarge })
}

type Limit = { limitBytes: number; chunks: Buffer[]; load: Load; tooLarge: () => ApiError }

async function readCompressed(
  ctx: HttpContext,
  { coding, limitBytes, chunks, load, tooLarge }: Limit & { coding: Coding },
): Promise<Buffer> {
  const most = limitBytes + MOST_OVERHEAD_BYTES
  const compressed = await readBytes(ctx, { limitBytes: most, chunks: [], load, tooLarge })
  if (compressed.length === 0) return compressed
  const body = await inflated(compressed, { coding, limitBytes, tooLarge })
  if (!hold(ctx, body.length, load)) throw overloaded()
  chunks.push(body)
  return body
}

/** Collects the body in `chunks` and returns it as one buffer. */
function readBytes(
  ctx: HttpContext,
  { limitBytes, chunks, load, tooLarge }: Limit,
): Promise<Buffer> {
  const request = ctx.req
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
      if (!load.hold(chunk.length)) return giveUp(overloaded())
      length += chunk.length
      chunks.push(chunk)
      if (length > limitBytes) giveUp(tooLarge())
    }
    const onEnd = () => {
      stop()
      if (!hold(ctx, length, load)) return reject(overloaded())
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    const onCut = () => {
      stop()
      reject(bodyFault('the body ended before it was complete'))
    }
    const giveUp = (error: ApiError) => {
      stop()
      request.resume()
      reject(error)
    }
    const stop = () => {
      load.endBody()
      load.release(length)
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut)
      request.on('error', () => undefined)
    }
    load.beginBody()
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut)
  })
}

/**
 * Holds the bytes of a body until it is answered. Small ones are held while they arrive only: later
 * the number of requests limits them.
 */
function hold({ req: { socket }, res }: HttpContext, bytes: number, load: Load): boolean {
  if (bytes <= SMALL_BYTES) return true
  if (!load.hold(bytes)) return false
  // Node does not close an answer that waits behind another one when the connection breaks.
  const release = () => {
    res.off('close', release)
    socket.off('close', release)
    load.release(bytes)
  }
  res.on('close', release)
  socket.on('close', release)
  return true
}

function overloaded(): ApiError {
  return unavailable('the service is overloaded, please send it again')
}

/** 400 for a fault of the body as a whole. */
export function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}
