import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/**
 * JavaScript and CSS, compressed, in kB: of the whole console, and the part that signing in loads.
 */
export type Weight = { readonly all: number; readonly signIn: number }

const SITE = fileURLToPath(new URL('../../dist/console/site/', import.meta.url))

/** Weighs the console as it was built. Files that the page itself names are loaded before anyone signs in. */
export async function weigh(): Promise<Weight> {
  const page = await readFile(join(SITE, 'index.html'), 'utf8')
  const all = (await readdir(SITE, { recursive: true })).filter((name) => /\.(js|css)$/.test(name))
  return {
    all: await kilobytes(all),
    signIn: await kilobytes(all.filter((name) => page.includes(name))),
  }
}

async function kilobytes(names: readonly string[]): Promise<number> {
  const files = await Promise.all(names.map((name) => readFile(join(SITE, name))))
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0) / 1_000
}
