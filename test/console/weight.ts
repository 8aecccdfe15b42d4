import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/**
 * JavaScript and CSS, compressed, in kB: of all pages, what is loaded once the map stands, the part that signing in loads,
 * and the readers of files, which a worker loads once somebody has chosen files to import.
 */
export type Weight = {
  readonly all: number
  readonly map: number
  readonly signIn: number
  readonly readers: number
}

const SITE = fileURLToPath(new URL('../../dist/console/site/', import.meta.url))

/** Weighs the console as it was built. Files that the page itself names are loaded before anyone signs in. */
export async function weigh(): Promise<Weight> {
  const page = await readFile(join(SITE, 'index.html'), 'utf8')
  const files = (await readdir(SITE, { recursive: true })).filter((name) =>
    /\.(js|css)$/.test(name),
  )
  const readers = files.filter((name) => name.includes('read-worker'))
  const all = files.filter((name) => !readers.includes(name))
  return {
    all: await kilobytes(all),
    map: await kilobytes(await filesOf(['index.html', 'pages/map/map-page.tsx'])),
    readers: await kilobytes(readers),
    signIn: await kilobytes(all.filter((name) => page.includes(name))),
  }
}

async function kilobytes(names: readonly string[]): Promise<number> {
  const files = await Promise.all(names.map((name) => readFile(join(SITE, name))))
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0) / 1_000
}

type Chunk = { readonly file: string; readonly imports?: string[]; readonly css?: string[] }

/** The files of these modules and of all that they import statically. */
async function filesOf(modules: readonly string[]): Promise<readonly string[]> {
  const manifest = JSON.parse(await readFile(join(SITE, '.vite', 'manifest.json'), 'utf8')) as {
    readonly [module: string]: Chunk
  }
  const reached = new Set(modules)
  const files = new Set<string>()
  for (const module of reached) {
    const { file, imports = [], css = [] } = manifest[module]!
    for (const one of [file, ...css]) if (/\.(js|css)$/.test(one)) files.add(one)
    for (const one of imports) reached.add(one)
  }
  return [...files]
}
