import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ApiError, invalidParams } from '../../runtime/errors.ts'

/** The content codings of a body (RFC 9110, section 8.4.1). */
const CODINGS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }
export type Coding = keyof typeof CODINGS

/** Incompressible bodies become a little larger, by frames, checksums and block lengths. */
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
 * Decompresses a body piece by piece, until `collect` refuses one.
 * @throws {ApiError} 400 if it is damaged, cut off, or continues after its end; the error of `collect`.
 */
export function inflate(
  bytes: Buffer,
  { coding, collect }: { coding: Coding; collect: (chunk: Buffer) => ApiError | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const engine = CODINGS[coding]()
    engine.on('data', (chunk: Buffer) => {
      const error = collect(chunk)
      if (error === undefined) return
      engine.destroy()
      reject(error)
    })
    engine.on('error', () => reject(fault(`is damaged or not ${coding}`)))
    engine.on('end', () => {
      if (engine.bytesWritten === bytes.length) resolve()
      else reject(fault('continues after its end'))
    })
    engine.end(bytes)
  })
}

function fault(what: string): ApiError {
  return invalidParams([{ field: 'body', message: `the compressed body ${what}` }])
}
