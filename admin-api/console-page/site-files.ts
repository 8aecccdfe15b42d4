import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

export type SiteFile = {
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  readonly gzipped: Buffer | undefined
}

/** The built console: its page, and the files that the page loads, by path (`/assets/…`). */
export type Site = {
  readonly page: SiteFile
  readonly assets: ReadonlyMap<string, SiteFile>
  /**
   * `Link` headers (RFC 8288) naming the files of the page at a path, so that a browser need not
   * load one file to discover the next.
   */
  readonly links: ReadonlyMap<string, string>
}

/** Vite's manifest: the output file of each module, and its imports. */
type Manifest = Readonly<
  Record<
    string,
    {
      readonly file: string
      readonly imports?: readonly string[]
      readonly css?: readonly string[]
    }
  >
>

/** The modules of the pages that people open first. */
const FIRST_PAGES = { '/': 'pages/map/map-page.tsx', '/share': 'pages/share/share-page.tsx' }

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/**
 * Reads the built console; undefined if it is not built.
 * @param basePath the path under which browsers reach it, with a slash at both ends.
 */
export function readSite(folder: string, basePath = '/'): Site | undefined {
  const page = setBasePath(readFile(folder, 'index.html'), basePath)
  if (page === undefined) return undefined
  const assets = new Map<string, SiteFile>()
  for (const name of readdirSync(join(folder, 'assets'))) {
    const file = readFile(join(folder, 'assets'), name)
    if (file !== undefined) assets.set(`/assets/${name}`, file)
  }
  const manifest = read(join(folder, '.vite', 'manifest.json'))
  const links = Object.entries(FIRST_PAGES).flatMap(([path, module]) => {
    return manifest === undefined ? [] : [[path, linksOf(module, manifest, basePath)] as const]
  })
  return { page, assets, links: new Map(links) }
}

/** The page with its base; the build writes `/`. */
function setBasePath(page: SiteFile | undefined, basePath: string): SiteFile | undefined {
  if (page === undefined || basePath === '/') return page
  const html = page.body.toString().replace('<base href="/">', `<base href="${basePath}">`)
  return { ...siteFile(page.type, Buffer.from(html)), gzipped: gzipSync(html) }
}

function linksOf(name: string, manifest: Buffer, basePath: string): string {
  const modules = JSON.parse(manifest.toString()) as Manifest
  const names = new Set([name])
  // Iterating over a set includes items added during the iteration.
  for (const one of names) modules[one]?.imports?.forEach((other) => names.add(other))
  const made = [...names].flatMap((one) => modules[one] ?? [])
  return [
    ...made.map(({ file }) => `<${basePath}${file}>; rel=modulepreload`),
    ...made
      .flatMap(({ css = [] }) => css)
      .map((file) => `<${basePath}${file}>; rel=preload; as=style; crossorigin`),
  ].join(', ')
}

function readFile(folder: string, name: string): SiteFile | undefined {
  const type = TYPES[extname(name)]
  const body = read(join(folder, name))
  if (type === undefined || body === undefined) return undefined
  return { ...siteFile(type, body), gzipped: read(join(folder, `${name}.gz`)) }
}

function siteFile(type: string, body: Buffer): Omit<SiteFile, 'gzipped'> {
  return { type, etag: createHash('sha256').update(body).digest('base64url'), body }
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
