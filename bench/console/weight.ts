import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ConsoleBrowser } from './browser.ts'

/**
 * JavaScript and CSS, compressed, in kB: of the whole console, and the part that signing in loads.
 */
export type Weight = { readonly all: number; readonly signIn: number }

const ASSETS = fileURLToPath(new URL('../../dist/console/site/', import.meta.url))

export async function weigh(browser: ConsoleBrowser, url: string): Promise<Weight> {
  const page = await browser.fresh({ isSignedIn: false })
  const loaded = new Set<string>()
  page.on('request', (request) => loaded.add(new URL(request.url()).pathname.slice(1)))
  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.context().close()
  const all = (await readdir(ASSETS, { recursive: true })).filter((name) =>
    /\.(js|css)$/.test(name),
  )
  const kilobytes = async (names: readonly string[]) => {
    const files = await Promise.all(names.map((name) => readFile(join(ASSETS, name))))
    return files.reduce((sum, file) => sum + gzipSync(file).length, 0) / 1_000
  }
  return {
    all: await kilobytes(all),
    signIn: await kilobytes(all.filter((name) => loaded.has(name))),
  }
}
