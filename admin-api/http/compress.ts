import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { AdminContext } from './admin-route.ts'

const compressed = promisify(gzip)

/** Smaller responses are not worth compressing. */
const LEAST_BYTES = 1_024
/** Saves memory for a thousand streams; higher values do not help lists either. */
const STREAM = { level: 4, windowBits: 13, memLevel: 6 } as const

/** Whether the client accepts gzip (RFC 9110, section 12.5.3). */
export function takesGzip(ctx: AdminContext): boolean {
  ctx.vary('Accept-Encoding')
  return ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
}

/**
 * Compresses a response if the client accepts that. Only for responses without secrets: the
 * compressed length would reveal their content (BREACH).
 */
export async function compressAnswer(ctx: AdminContext): Promise<void> {
  if (!takesGzip(ctx) || ctx.method === 'HEAD') return
  const isText = typeof ctx.body === 'string' && ctx.type === 'application/json'
  if (!isText && (typeof ctx.body !== 'object' || ctx.body === null)) return
  if (ctx.body instanceof Readable) {
    if (ctx.type === 'application/json') compressList(ctx, ctx.body)
    return
  }
  const json = Buffer.from(isText ? String(ctx.body) : JSON.stringify(ctx.body))
  if (json.length < LEAST_BYTES) return
  const body = await compressed(json, { level: 4 })
  ctx.body = body
  ctx.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Encoding': 'gzip' })
}

/** A long list that is written as it is read. */
function compressList(ctx: AdminContext, list: Readable): void {
  // An error while reading the list cuts the connection.
  ctx.body = pipeline(list, createGzip({ level: 4 }), () => undefined)
  ctx.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Encoding': 'gzip' })
}

/** Compresses texts one by one, so that the client can read each one immediately. */
export async function* compressTexts(texts: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  const stream = createGzip(STREAM)
  let parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  const compressPart = (text: string) =>
    new Promise<Buffer>((resolve, reject) => {
      stream.once('error', reject)
      stream.write(text)
      stream.flush(constants.Z_SYNC_FLUSH, () => {
        stream.off('error', reject)
        resolve(Buffer.concat(parts))
        parts = []
      })
    })
  try {
    for await (const text of texts) yield await compressPart(text)
    yield await new Promise<Buffer>((resolve) => {
      stream.once('end', () => resolve(Buffer.concat(parts)))
      stream.end()
    })
  } finally {
    stream.close()
  }
}
