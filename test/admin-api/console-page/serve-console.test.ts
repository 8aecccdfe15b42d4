import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { request } from 'undici'
import { pageHeaders } from '../../../admin-api/console-page/built-console.ts'
import { serveConsole } from '../../../admin-api/console-page/serve-console.ts'
import { readSite } from '../../../admin-api/console-page/site-files.ts'
import { serveHttp } from '../../../runtime/http/http-server.ts'
import {
  answerInEnvelope,
  identifyRequest,
  reportBrokenOff,
  succeed,
  type HttpState,
} from '../../../runtime/http/http.ts'
import { eventually } from '../../eventually.ts'
import { ownDirectory } from '../../own-directory.ts'
import { rawConnection } from '../../raw-connection.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const SCRIPT = 'document.title = "console"\n'
const MAP = Buffer.from('0123456789')
/** More than the buffers of a connection hold. */
const LARGE_MAP = randomBytes(16 * 1024 * 1024)
const MANIFEST = {
  'index.html': { file: 'assets/main-x1.js', imports: ['_base.js'] },
  '_base.js': { file: 'assets/base-x1.js' },
  'pages/map/map-page.tsx': {
    file: 'assets/map-x1.js',
    imports: ['_ol.js'],
    css: ['assets/map-x1.css'],
  },
  '_ol.js': { file: 'assets/ol-x1.js', imports: ['_base.js', 'pages/map/map-page.tsx'] },
  'pages/share/share-page.tsx': { file: 'assets/share-x1.js', imports: ['_ol.js'] },
  'pages/keys.tsx': { file: 'assets/keys-x1.js' },
}

let folder: string
let server: Awaited<ReturnType<typeof serveHttp>>

beforeAll(async () => {
  folder = await ownDirectory()
  const site = join(folder, 'site')
  mkdirSync(join(site, 'assets'), { recursive: true })
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>console</title>')
  writeFileSync(join(site, 'assets', 'main-x1.js'), SCRIPT)
  writeFileSync(join(site, 'assets', 'main-x1.js.gz'), gzipSync(SCRIPT))
  mkdirSync(join(site, '.vite'))
  writeFileSync(join(site, '.vite', 'manifest.json'), JSON.stringify(MANIFEST))
  writeFileSync(join(folder, 'world.pmtiles'), MAP)
  writeFileSync(join(folder, 'large.pmtiles'), LARGE_MAP)
  server = await serve(site)
})

async function serve(site: string): Promise<typeof server> {
  const app = new Koa<HttpState>()
  app.use(identifyRequest())
  const logger = pino({ level: 'silent' })
  app.use(answerInEnvelope({ logger }))
  app.use(
    serveConsole({
      site: readSite(site),
      maps: {
        '/map/world.pmtiles': join(folder, 'world.pmtiles'),
        '/map/large.pmtiles': join(folder, 'large.pmtiles'),
        '/map/later.pmtiles': join(folder, 'later.pmtiles'),
      },
      headers: pageHeaders(),
    }),
  )
  app.on('error', reportBrokenOff({ logger }))
  app.use((ctx) => {
    if (ctx.path === '/' || ctx.path === '/api/v1/devices') succeed(ctx, 'the API')
  })
  return serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
}

afterAll(async () => {
  await server.close()
})

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.url + path, { method, headers })

describe('the page', () => {
  test.each(['/', '/keys', '/devices/a%2Fb', '/devices/%E0%A4', '/no/such/page'])(
    'a browser gets the page at %s',
    async (path) => {
      const answer = await get(path, { Accept: BROWSER })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(answer.headers.get('vary')).toContain('Accept')
      expect(await answer.text()).toContain('<title>console</title>')
    },
  )

  test('the first answer of a signed-in page preloads the map’s files', async () => {
    const Cookie = `gps_session=${'a'.repeat(22)}`
    const answer = await get('/', { Accept: BROWSER, Cookie })
    expect(answer.headers.get('link')?.split(', ')).toEqual([
      '</assets/map-x1.js>; rel=modulepreload',
      '</assets/ol-x1.js>; rel=modulepreload',
      '</assets/base-x1.js>; rel=modulepreload',
      '</assets/map-x1.css>; rel=preload; as=style; crossorigin',
    ])
    expect((await get('/', { Accept: BROWSER })).headers.get('link')).toBeNull()
    expect((await get('/keys', { Accept: BROWSER, Cookie })).headers.get('link')).toBeNull()
  })

  test('the first answer of a shared link preloads its files', async () => {
    const { headers } = await get('/share', { Accept: BROWSER })
    expect(headers.get('link')).toContain('</assets/share-x1.js>; rel=modulepreload')
    expect(headers.get('link')).toContain('</assets/ol-x1.js>; rel=modulepreload')
  })

  test('the page preloads no map files if the build does not list them', async () => {
    const site = join(folder, 'without-manifest')
    mkdirSync(join(site, 'assets'), { recursive: true })
    writeFileSync(join(site, 'index.html'), '<!doctype html>')
    const other = await serve(site)
    const Cookie = `gps_session=${'a'.repeat(22)}`
    const { status, headers } = await fetch(other.url, { headers: { Accept: BROWSER, Cookie } })
    await other.close()
    expect(status).toBe(200)
    expect(headers.get('link')).toBeNull()
  })

  test.each(['*/*', 'application/json', ''])(
    'a client that accepts %p does not get the page',
    async (accept) => {
      const answer = await get('/', accept === '' ? {} : { Accept: accept })
      expect(answer.headers.get('vary')).toContain('Accept')
      expect(await answer.json()).toMatchObject({ success: true, data: 'the API' })
      expect((await get('/keys', { Accept: '*/*' })).status).toBe(404)
    },
  )

  test.each(['/api/v1/devices', '/api/v1/none', '/docs', '/metrics', '/assets/none.js', '/map/x'])(
    'the page is not served at %s',
    async (path) => {
      const answer = await get(path, { Accept: BROWSER })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    },
  )

  test('the page is sent only once while it is unchanged', async () => {
    const etag = (await get('/', { Accept: BROWSER })).headers.get('etag') ?? ''
    // fetch would add Cache-Control: no-cache.
    const headers = { Accept: BROWSER, 'Accept-Encoding': 'gzip', 'If-None-Match': etag }
    const again = await request(server.url, { headers })
    await again.body.dump()
    expect(again.statusCode).toBe(304)
  })

  test('a POST does not get the page', async () => {
    expect((await get('/keys', { Accept: BROWSER }, 'POST')).status).toBe(404)
  })

  test('the page lets browsers load nothing from elsewhere and run no inline script', async () => {
    const { headers } = await get('/', { Accept: BROWSER })
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
  })

  test('the page shares neither its window nor its files with other sites, and asks for no devices', async () => {
    const { headers } = await get('/', { Accept: BROWSER })
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    const denied = (headers.get('permissions-policy') ?? '').split(', ')
    expect(denied).toEqual(expect.arrayContaining(['camera=()', 'geolocation=()', 'microphone=()']))
    const asset = await get('/assets/main-x1.js')
    expect(asset.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  })

  test('the page names the origins of a map that operators have configured, and no others', () => {
    const policy = pageHeaders({
      images: ['https://tiles.example.org'],
      data: ['https://maps.example.org'],
    })['Content-Security-Policy']
    expect(policy).toContain("img-src 'self' data: blob: https://tiles.example.org;")
    expect(policy).toContain("connect-src 'self' https://maps.example.org;")
  })
})

describe('files of the page', () => {
  test('the page’s files are cached forever, because changed content gets another name', async () => {
    const answer = await get('/assets/main-x1.js', { 'Accept-Encoding': 'identity' })
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(await answer.text()).toBe(SCRIPT)
  })

  test('browsers that accept gzip get the page’s files compressed', async () => {
    const answer = await get('/assets/main-x1.js', { 'Accept-Encoding': 'gzip, br' })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('vary')).toContain('Accept-Encoding')
    expect(await answer.text()).toBe(SCRIPT)
    expect(gunzipSync(gzipSync(SCRIPT)).toString()).toBe(SCRIPT)
  })
})

describe('maps', () => {
  test('a map can be read in ranges', async () => {
    const part = await get('/map/world.pmtiles', { Range: 'bytes=2-4' })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10')
    expect(part.headers.get('content-length')).toBe('3')
    expect(await part.text()).toBe('234')
    expect(await (await get('/map/world.pmtiles', { Range: 'bytes=7-' })).text()).toBe('789')
    expect(await (await get('/map/world.pmtiles', { Range: 'bytes=-3' })).text()).toBe('789')
    expect(await (await get('/map/world.pmtiles', { Range: 'bytes=8-99' })).text()).toBe('89')
  })

  test('a map is sent whole if the request has no range, several ranges, or a range of another version', async () => {
    const whole = await get('/map/world.pmtiles')
    expect(whole.headers.get('accept-ranges')).toBe('bytes')
    for (const headers of [{}, { Range: 'bytes=0-1,3-4' }, { Range: 'lines=1-2' }]) {
      const answer = await get('/map/world.pmtiles', headers)
      expect([answer.status, await answer.text()]).toEqual([200, '0123456789'])
    }
    const other = await get('/map/world.pmtiles', { Range: 'bytes=0-1', 'If-Range': '"other"' })
    expect(other.status).toBe(200)
    const same = whole.headers.get('etag') ?? ''
    const again = await get('/map/world.pmtiles', { Range: 'bytes=0-1', 'If-Range': same })
    expect(again.status).toBe(206)
  })

  test('a map rejects a range beyond its end', async () => {
    const answer = await get('/map/world.pmtiles', { Range: 'bytes=10-' })
    expect(answer.status).toBe(416)
    expect(answer.headers.get('content-range')).toBe('bytes */10')
  })

  test('concurrent readers share one open map file, which is closed after the last one', async () => {
    const text = 'GET /map/large.pmtiles HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)
    const unread = Array.from({ length: 20 }, () => {
      const { socket } = rawConnection(server.url, text)
      return socket.pause()
    })
    await eventually(() => unread.every(({ readableLength }) => readableLength > 0))
    expect(timesOpen('large.pmtiles')).toBe(1)
    const read = await (await get('/map/large.pmtiles')).arrayBuffer()
    expect(LARGE_MAP.equals(Buffer.from(read))).toBe(true)
    for (const socket of unread) socket.destroy()
    await eventually(() => timesOpen('large.pmtiles') === 0)
  })

  test('after a map is replaced, readers that started before get the old file, later ones the new file', async () => {
    const before = await request(`${server.url}/map/large.pmtiles`)
    rmSync(join(folder, 'large.pmtiles'))
    writeFileSync(join(folder, 'large.pmtiles'), 'another one')
    expect(await (await get('/map/large.pmtiles')).text()).toBe('another one')
    expect(LARGE_MAP.equals(Buffer.from(await before.body.arrayBuffer()))).toBe(true)
    writeFileSync(join(folder, 'large.pmtiles'), LARGE_MAP)
  })

  test('a directory or a pipe instead of a map is a 404, and delays no other file', async () => {
    const later = join(folder, 'later.pmtiles')
    mkdirSync(later)
    expect((await get('/map/later.pmtiles')).status).toBe(404)
    rmSync(later, { recursive: true })
    execFileSync('mkfifo', [later])
    for (let n = 0; n < 8; n += 1) expect((await get('/map/later.pmtiles')).status).toBe(404)
    rmSync(later)
  })

  test('a map that cannot be opened is a 503 that says so, without headers of the map', async () => {
    const later = join(folder, 'later.pmtiles')
    // Nobody may read this file of Linux, not even root.
    symlinkSync('/proc/sys/vm/compact_memory', later)
    const answer = await get('/map/later.pmtiles')
    rmSync(later)
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { success: false, message: 'this map cannot be read right now' },
    ])
    for (const name of ['ETag', 'Accept-Ranges']) expect(answer.headers.get(name)).toBeNull()
  })

  test('a map that is not built yet is a 404, and is served once it is', async () => {
    expect((await get('/map/later.pmtiles')).status).toBe(404)
    writeFileSync(join(folder, 'later.pmtiles'), 'now')
    expect(await (await get('/map/later.pmtiles')).text()).toBe('now')
    rmSync(join(folder, 'later.pmtiles'))
  })
})

test('below a path the page states its base, and the map’s files are named below it', () => {
  const site = join(folder, 'below')
  mkdirSync(join(site, 'assets'), { recursive: true })
  mkdirSync(join(site, '.vite'))
  writeFileSync(join(site, 'index.html'), '<!doctype html><base href="/"><title>console</title>')
  writeFileSync(join(site, '.vite', 'manifest.json'), JSON.stringify(MANIFEST))
  const [atRoot, below] = [readSite(site), readSite(site, '/gps/')]
  expect(below?.page.body.toString()).toContain('<base href="/gps/">')
  expect(gunzipSync(below?.page.gzipped ?? '').equals(below?.page.body ?? Buffer.of())).toBe(true)
  expect(below?.page.etag).not.toBe(atRoot?.page.etag)
  expect(below?.links.get('/')).toContain('</gps/assets/map-x1.js>; rel=modulepreload')
})

test('without a built console the API serves every path', () => {
  expect(readSite(join(folder, 'nowhere'))).toBeUndefined()
})

/** The number of descriptors that this process has open on a file. */
function timesOpen(name: string): number {
  const links = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(join('/proc/self/fd', descriptor))]
    } catch {
      // The descriptor of the folder itself.
      return []
    }
  })
  return links.filter((link) => link.startsWith(join(folder, name))).length
}
