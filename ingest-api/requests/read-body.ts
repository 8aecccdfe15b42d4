import { ApiError, invalidParams, unavailable } from '../../runtime/errors.ts'
import { SMALL_BODY_BYTES, type InFlight } from '../../runtime/load.ts'
import { codingOf, inflate, MOST_OVERHEAD_BYTES, type Coding } from './content-coding.ts'
import { headerOf, type SenderRequest } from './sender-request.ts'

type Limit = { readonly limitBytes: number; readonly chunks: Buffer[]; readonly load: InFlight }
/** Collects a piece of a body, or returns the error that ends the reading. */
type Collect = (chunk: Buffer) => ApiError | undefined

/**
 * Reads a body of at most `limitBytes`, counted after decompression. The bytes go into `chunks`
 * as they arrive, so that the caller has them for a rejection.
 * @throws {ApiError} 415, 413 or 400; 503 if there is no room for it.
 */
export function readBody(request: SenderRequest, limit: Limit): Promise<Buffer> {
  const coding = codingOf(headerOf(request, 'content-encoding'))
  return coding === 'identity' ? readBytes(request, limit) : readCompressed(request, coding, limit)
}

async function readCompressed(
  request: SenderRequest,
  coding: Coding,
  limit: Limit,
): Promise<Buffer> {
  const { limitBytes, chunks } = limit
  const most = limitBytes + MOST_OVERHEAD_BYTES
  const compressed = await readBytes(
    request,
    { ...limit, limitBytes: most, chunks: [] },
    limitBytes,
  )
  if (compressed.length === 0) return compressed
  await inflate(compressed, { coding, collect: collector(request, limit) })
  return joined(chunks)
}

/** Collects the body in `chunks` and returns it as one buffer. */
function readBytes(
  request: SenderRequest,
  limit: Limit,
  toldBytes = limit.limitBytes,
): Promise<Buffer> {
  const { limitBytes, chunks, load } = limit
  const { http } = request
  if (Number(http.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(tooLarge(toldBytes))
  }
  // A small body has arrived with its headers. To take it whole costs 18.2 µs a request of 150 bytes, and
  // 19.6 if it is collected as below.
  if (http.complete) {
    const bytes = (http.read() as Buffer | null) ?? Buffer.alloc(0)
    chunks.push(bytes)
    if (bytes.length > limitBytes) return Promise.reject(tooLarge(toldBytes))
    // The number of requests limits small ones.
    const isHeld = bytes.length <= SMALL_BODY_BYTES || load.hold(request, bytes.length)
    return isHeld ? Promise.resolve(bytes) : Promise.reject(overloaded())
  }
  // The client may have disconnected during the key look-up; no event would follow.
  if (http.destroyed) return Promise.reject(cutOff())
  return new Promise((resolve, reject) => {
    const collect = collector(request, limit, toldBytes)
    const onData = (chunk: Buffer) => {
      const error = collect(chunk)
      if (error === undefined) return
      stop()
      http.resume()
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
      http.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut)
      http.on('error', () => undefined)
    }
    load.beginBody()
    http.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut)
  })
}

/** Collects the pieces of a body in `chunks` while it is small enough and there is room. */
function collector(
  request: SenderRequest,
  { limitBytes, chunks, load }: Limit,
  toldBytes = limitBytes,
): Collect {
  let length = 0
  return (chunk) => {
    if (!load.hold(request, chunk.length)) return overloaded()
    length += chunk.length
    chunks.push(chunk)
    return length > limitBytes ? tooLarge(toldBytes) : undefined
  }
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
