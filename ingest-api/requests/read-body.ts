import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { unavailable, type HttpContext } from '../../runtime/http.ts'
import type { Load } from '../../runtime/load.ts'
import { codingOf, inflate, MOST_OVERHEAD_BYTES, type Coding } from './content-coding.ts'
import type { ReportState } from './endpoint.ts'

const SMALL_BYTES = 16 * 1024

type Context = HttpContext<ReportState>
type Limit = { readonly limitBytes: number; readonly chunks: Buffer[]; readonly load: Load }
/** Collects a piece of a body, or returns the error that ends the reading. */
type Collect = (chunk: Buffer) => ApiError | undefined

/**
 * Reads a body of at most `limitBytes`, counted after decompression. The bytes go into `chunks`
 * as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400; 503 if there is no room for it.
 */
export function readBody(ctx: Context, limit: Limit): Promise<Buffer> {
  const coding = codingOf(ctx.get('content-encoding'))
  return coding === 'identity' ? readBytes(ctx, limit) : readCompressed(ctx, coding, limit)
}

async function readCompressed(ctx: Context, coding: Coding, limit: Limit): Promise<Buffer> {
  const { limitBytes, chunks } = limit
  const most = limitBytes + MOST_OVERHEAD_BYTES
  const compressed = await readBytes(ctx, { ...limit, limitBytes: most, chunks: [] }, limitBytes)
  if (compressed.length === 0) return compressed
  await inflate(compressed, { coding, collect: collector(ctx, limit) })
  return joined(chunks)
}

/** Collects the body in `chunks` and returns it as one buffer. */
function readBytes(ctx: Context, limit: Limit, toldBytes = limit.limitBytes): Promise<Buffer> {
  const { limitBytes, chunks, load } = limit
  const request = ctx.req
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(tooLarge(toldBytes))
  }
  // A small body has arrived with its headers.
  if (request.complete) {
    const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0)
    chunks.push(bytes)
    if (bytes.length > limitBytes) return Promise.reject(tooLarge(toldBytes))
    // The number of requests limits small ones.
    const isHeld = bytes.length <= SMALL_BYTES || hold(ctx, bytes.length, load)
    return isHeld ? Promise.resolve(bytes) : Promise.reject(overloaded())
  }
  // The client may have disconnected during the key look-up; no event would follow.
  if (request.destroyed) return Promise.reject(cutOff())
  return new Promise((resolve, reject) => {
    const collect = collector(ctx, limit, toldBytes)
    const onData = (chunk: Buffer) => {
      const error = collect(chunk)
      if (error === undefined) return
      stop()
      request.resume()
      reject(error)
    }
    const onEnd = () => {
      stop()
      resolve(joined(chunks))
    }
    const onCut = () => {
      stop()
      reject(cutOff())
    }
    const stop = () => {
      load.endBody()
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut)
      request.on('error', () => undefined)
    }
    load.beginBody()
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut)
  })
}

/** Collects the pieces of a body in `chunks` while it is small enough and there is room. */
function collector(
  ctx: Context,
  { limitBytes, chunks, load }: Limit,
  toldBytes = limitBytes,
): Collect {
  let length = 0
  return (chunk) => {
    if (!hold(ctx, chunk.length, load)) return overloaded()
    length += chunk.length
    chunks.push(chunk)
    return length > limitBytes ? tooLarge(toldBytes) : undefined
  }
}

/**
 * Holds room for bytes of a request. The code that answers the request releases it when its work is
 * done, even if the client has gone. False if there is none.
 */
export function hold({ state }: Context, bytes: number, load: Load): boolean {
  if (!load.hold(bytes)) return false
  state.heldBytes += bytes
  return true
}

/** Replaces the pieces by one buffer, so that they are not kept beside it. */
function joined(chunks: Buffer[]): Buffer {
  if (chunks.length === 1) return chunks[0] as Buffer
  const whole = Buffer.concat(chunks)
  chunks.splice(0, chunks.length, whole)
  return whole
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `the body must not be larger than ${limitBytes} bytes`)
}

function cutOff(): ApiError {
  return bodyFault('the body ended before it was complete')
}

export function overloaded(): ApiError {
  return unavailable('the service is overloaded, please send it again')
}

/** A 400 for a fault of the body as a whole. */
export function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}
