import type { HttpContext, HttpMiddleware } from '../../runtime/http/http.ts'
import { sessionToken } from '../http/session-cookie.ts'
import { sendFile, SharedFiles } from './send-file.ts'
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
 * Serves the console. Its page answers every path that nothing else serves, because the page itself
 * distinguishes device paths from key paths. Programs, which do not accept HTML, get the API's
 * answer there.
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
      // Without a session the sign-in page comes instead of the map.
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
