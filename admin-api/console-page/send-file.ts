import { stat } from 'node:fs/promises'
import { ApiError, unavailable } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import { onceAnswered } from '../http/once-answered.ts'
import type { ByteRange, SharedFiles } from './shared-files.ts'

/**
 * Answers with a file or the requested range of it (RFC 9110 section 14).
 *
 * @throws {ApiError} 404 if the file does not exist, 503 if it cannot be opened.
 */
export async function sendFile(
  ctx: HttpContext,
  file: string,
  { files, headers }: { files: SharedFiles; headers: Readonly<Record<string, string>> },
): Promise<void> {
  const stats = await stat(file).catch(() => undefined)
  // Opening a pipe could take one of the few threads for ever.
  if (stats?.isFile() !== true) throw new ApiError('NOT_FOUND', 'this map is not there (yet)')
  const { size, mtimeMs } = stats
  ctx.set({ ...headers, 'Accept-Ranges': 'bytes' })
  ctx.status = 200
  ctx.type = 'application/octet-stream'
  const version = `${size.toString(36)}-${Math.round(mtimeMs).toString(36)}`
  ctx.etag = version
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  const isSame = ['', ctx.response.get('ETag')].includes(ctx.get('If-Range'))
  const range = isSame ? readRange(ctx.get('Range'), size) : 'all'
  if (range === 'outside') {
    ctx.status = 416
    ctx.set('Content-Range', `bytes */${size}`)
    ctx.body = ''
    return
  }
  const { start, end } = range === 'all' ? { start: 0, end: size - 1 } : range
  if (range !== 'all') {
    ctx.status = 206
    ctx.set('Content-Range', `bytes ${start}-${end}/${size}`)
  }
  ctx.length = end - start + 1
  if (ctx.method === 'HEAD') return
  const { bytes, release } = await files.read(file, version, { start, end }).catch((cause) => {
    throw unavailable('this map cannot be read right now', cause)
  })
  onceAnswered(ctx, release)
  ctx.body = bytes
}

/** Parses a Range header. A malformed header or several ranges may be ignored. */
function readRange(header: string, size: number): ByteRange | 'all' | 'outside' {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (first === '' && last === '') return 'all'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return 'all'
  return start < size && start <= end ? { start, end } : 'outside'
}
