import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/**
 * JavaScript and CSS, compressed, in kB: what is loaded once the map is shown, the part that signing in loads, and the
 * readers of files, which a worker loads once somebody has chosen files to import. Other pages are loaded when they are
 * opened.
 */
export type Weight = { readonly map: number; readonly signIn: number; readonly readers: number }

const SITE = fileURLToPath(new URL('../../dist/console/site/', import.meta.url))

/** Weighs the console as it was built. Files that the page itself names are loaded before anyone signs in. */
export async function weigh(): Promise<Weight> {
  const page = await readFile(join(SITE, 'index.html'), 'utf8')
  const files = (await readdir(SITE, { recursive: true })).filter((name) =>
    /\.(js|css)$/.test(name),
  )
  const readers = files.filter((name) => name.includes('read-worker'))
  const first = files.filter((name) => page.includes(name))
  const opened = files.filter((name) => /\/(map-page|banners)-[^/]+\.js$/.test(name))
  return {
    map: await kilobytes(await withImports([...first, ...opened], files)),
    readers: await kilobytes(readers),
    signIn: await kilobytes(first),
  }
}

/** The files with those that they import, and the styles that Vite loads with each of them. */
async function withImports(some: readonly string[], files: readonly string[]): Promise<string[]> {
  const found = new Set(some)
  for (const name of found) {
    const stem = name.replace(/-[^-]+\.js$/, '-')
    for (const file of files) {
      if (file.startsWith(stem) && file.endsWith('.css')) found.add(file)
    }
    if (!name.endsWith('.js')) continue
    const text = await readFile(join(SITE, name), 'utf8')
    for (const [, imported = ''] of text.matchAll(/\b(?:from|import)\s*["`']\.\/([^"`']+)["`']/g)) {
      found.add(`assets/${imported}`)
    }
  }
  return [...found]
}

async function kilobytes(names: readonly string[]): Promise<number> {
  const files = await Promise.all(names.map((name) => readFile(join(SITE, name))))
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0) / 1_000
}
