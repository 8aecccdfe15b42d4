import { stat, open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { ApiError, unavailable } from '../../runtime/errors.ts'
import type { HttpContext, HttpMiddleware } from '../../runtime/http/http.ts'
import { runOnceAnswered } from '../http/admin-route.ts'
import { sessionToken } from '../http/session-cookie.ts'
import type { Site, SiteFile } from './site-files.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'
/** Paths that never belong to the console, even when a browser requests them. */
const OTHERS = /^\/(api|assets|map|docs|map\.pmtiles|openapi\.json|healthz|readyz|metrics)(\/|$)/

/** The files that the console is served from. */
export type ConsoleFiles = {
  /** Undefined if the console is not built: then every path belongs to the API. */
  readonly site: Site | undefined
  /** Files in the PMTiles format, by path; a file that does not exist yet is a 404. */
  readonly maps: Readonly<Record<string, string>>
  /** Sent with each of the console's files. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Serves the console. Its page is sent for every path that nothing else serves, because the page
 * itself distinguishes device paths from key paths. Programs, which do not accept HTML, get the
 * API's response there.
 */
export function serveConsole({ site, maps, headers }: ConsoleFiles): HttpMiddleware {
  const files = new SharedFiles()
  return async function serveConsole(ctx, next) {
    if (site === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) {
      await next()
      return
    }
    const asset = site.assets.get(ctx.path)
    const map = Object.hasOwn(maps, ctx.path) ? maps[ctx.path] : undefined
    if (asset !== undefined) {
      name(ctx, '/assets/:name')
      answer(ctx, asset, { ...headers, 'Cache-Control': FOR_EVER })
    } else if (map !== undefined) {
      name(ctx, '/map/:name')
      await sendFile(ctx, map, {
        files,
        headers: { ...headers, 'Cache-Control': 'max-age=3600' },
      })
    } else if (!OTHERS.test(ctx.path) && asksForPage(ctx)) {
      name(ctx, 'console')
      ctx.vary('Accept')
      const links = site.links.get(ctx.path)
      // Without a session the sign-in page is shown instead of the map.
      const isShown = ctx.path !== '/' || sessionToken(ctx) !== undefined
      if (links !== undefined && isShown) ctx.set('Link', links)
      answer(ctx, site.page, { ...headers, 'Cache-Control': 'no-cache' })
    } else {
      if (ctx.path === '/') ctx.vary('Accept')
      await next()
    }
  }
}

/** Browsers accept HTML explicitly; programs accept anything. */
function asksForPage(ctx: HttpContext): boolean {
  return ctx.accepts(['json', 'html']) === 'html'
}

function answer(
  ctx: HttpContext,
  { type, etag, body, gzipped }: SiteFile,
  headers: Readonly<Record<string, string>>,
): void {
  ctx.set(headers)
  ctx.vary('Accept-Encoding')
  ctx.status = 200
  ctx.type = type
  const compressed = gzipped !== undefined && ctx.acceptsEncodings(['gzip', 'identity']) === 'gzip'
  ctx.etag = compressed ? `${etag}-gzip` : etag
  if (compressed) ctx.set('Content-Encoding', 'gzip')
  if (ctx.fresh) ctx.status = 304
  else ctx.body = compressed ? gzipped : body
}

/** Names the route for the metrics, which count by route. */
function name(ctx: HttpContext, route: string): void {
  Object.assign(ctx, { _matchedRoute: route })
}

/**
 * Responds with a file or the requested range of it (RFC 9110 section 14).
 *
 * @throws {ApiError} 404 if the file does not exist, 503 if it cannot be opened.
 */
async function sendFile(
  ctx: HttpContext,
  file: string,
  { files, headers }: { files: SharedFiles; headers: Readonly<Record<string, string>> },
): Promise<void> {
  const stats = await stat(file).catch(() => undefined)
  // Opening a pipe could occupy one of the few threads forever.
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
  runOnceAnswered(ctx, release)
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

/** Bytes of a file buffered for each client that does not read. */
const CHUNK_BYTES = 16 * 1024

type ByteRange = { readonly start: number; readonly end: number }

type SharedFile = { readonly handle: Promise<FileHandle>; readers: number }

/**
 * Files that are opened once, regardless of the number of their readers: one descriptor per reader
 * could leave none for devices' connections.
 */
class SharedFiles {
  readonly #open = new Map<string, SharedFile>()

  /**
   * Opens a version of a file, or shares the one already open. `end` of the range is inclusive. The
   * caller calls `release` when it has finished reading.
   */
  async read(
    file: string,
    version: string,
    range: ByteRange,
  ): Promise<{ readonly bytes: Readable; readonly release: () => void }> {
    const id = `${version} ${file}`
    const shared = this.#open.get(id) ?? { handle: open(file), readers: 0 }
    this.#open.set(id, shared)
    shared.readers += 1
    const release = () => {
      shared.readers -= 1
      if (shared.readers > 0) return
      this.#open.delete(id)
      shared.handle.then((handle) => handle.close()).catch(() => undefined)
    }
    try {
      const chunks = read(await shared.handle, range)
      const bytes = Readable.from(chunks, { objectMode: false, highWaterMark: CHUNK_BYTES })
      return { bytes, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

async function* read(handle: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer, void> {
  for (let position = start; position <= end;) {
    const length = Math.min(CHUNK_BYTES, end + 1 - position)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, position)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
