import { brotliDecompress, gunzip, inflate, type Zlib } from 'node:zlib'
import { ApiError, invalidParams } from '../../runtime/errors.ts'

/** How a body may be compressed (RFC 9110, section 8.4.1). */
const CODINGS: Readonly<Record<Coding, Decompress>> = {
  gzip: gunzip,
  deflate: inflate,
  br: brotliDecompress,
}
export type Coding = 'gzip' | 'deflate' | 'br'

type Decompress = (
  bytes: Buffer,
  options: { maxOutputLength: number; info: true },
  done: (error: NodeJS.ErrnoException | null, result: unknown) => void,
) => void

/** Bodies that do not compress become a little larger: by frames, checksums and lengths of blocks. */
export const MOST_OVERHEAD_BYTES = 1024

/**
 * The coding that a Content-Encoding header names.
 * @throws {ApiError} 415 if it is another one, or more than one.
 */
export function codingOf(header: string): Coding | 'identity' {
  const name = header.trim().toLowerCase()
  if (name === '' || name === 'identity') return 'identity'
  if (Object.hasOwn(CODINGS, name)) return name as Coding
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'send the body with one Content-Encoding, gzip, deflate or br, or without one',
  )
}

/**
 * Decompresses a body, and stops once it is larger than `limitBytes`.
 * @throws {ApiError} 400 if it is damaged, cut off, or continues after its end; `tooLarge()`.
 */
export function inflated(
  bytes: Buffer,
  {
    coding,
    limitBytes,
    tooLarge,
  }: { coding: Coding; limitBytes: number; tooLarge: () => ApiError },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: NodeJS.ErrnoException | null, result: unknown) => {
      if (error?.code === 'ERR_BUFFER_TOO_LARGE') return reject(tooLarge())
      if (error !== null) return reject(fault(`is damaged or not ${coding}`))
      const { buffer, engine } = result as { buffer: Buffer; engine: Zlib }
      if (engine.bytesWritten < bytes.length) return reject(fault('continues after its end'))
      resolve(buffer)
    }
    CODINGS[coding](bytes, { maxOutputLength: limitBytes, info: true }, done)
  })
}

function fault(what: string): ApiError {
  return invalidParams([{ field: 'body', message: `the compressed body ${what}` }])
}
