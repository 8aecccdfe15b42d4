// Builds the services' JavaScript and the console's bundle in dist/, each only if its sources have
// changed. Types are not checked here: that takes ten times as long, and `npm run check` does it.
// Programs that start at the same time wait for one build: it holds a lock on an SQLite file, which the
// operating system releases when the process ends.
// Run directly it also builds the console's base map, so that an image needs nothing but dist/.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { compressFiles } from './compress-files.mjs'
import { fingerprint, sources } from './sources.mjs'
import { makeWorld } from './make-world.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const STAMP = '.made-from'
/** Only read by the type check. */
const GENERATED_TYPES = join('console', 'api', 'schema.ts')

const services = {
  directory: dist,
  fingerprint: () =>
    fingerprint(root, [
      'package-lock.json',
      ...programs(),
      ...['scripts/javascript.mjs', 'scripts/transpile.mjs'],
    ]),
  async make(fresh) {
    // Imported only here: if everything is built, the build tools may be missing.
    const { transpile } = await import('./transpile.mjs')
    transpile(root, programs(), fresh)
  },
  /** Built separately, inside the services' folder. */
  kept: ['console/site', 'console/map'],
}

const site = {
  directory: join(dist, 'console', 'site'),
  fingerprint: () =>
    fingerprint(root, [
      'package-lock.json',
      ...['scripts/build.mjs', 'scripts/compress-files.mjs'],
      ...sources(root, 'console').filter((file) => isBundled(file) && file !== GENERATED_TYPES),
      ...sources(root, 'schemas', ['.ts']),
    ]),
  async make(fresh) {
    await run('vite/bin/vite.js', ['build', 'console', '--outDir', fresh, '--logLevel', 'warn'])
    await compressFiles(fresh)
  },
  kept: [],
}

/**
 * Brings dist/ up to date. Rejects if the sources do not compile, with the location of the fault.
 */
export async function build() {
  if (stale().length === 0) return
  const unlock = lock()
  try {
    const parts = stale()
    if (parts.length === 0) return
    process.stderr.write('building … (only after a change)\n')
    const made = await Promise.allSettled(parts.map(make))
    const failed = made.find(({ status }) => status === 'rejected')
    if (failed) throw failed.reason
    parts.forEach(replace)
  } finally {
    for (const part of [services, site]) rmSync(freshOf(part), { recursive: true, force: true })
    unlock()
  }
}

function stale() {
  const parts = existsSync(join(root, 'console', 'index.html')) ? [services, site] : [services]
  return parts
    .map((part) => ({ ...part, wanted: part.fingerprint() }))
    .filter(({ directory, wanted }) => madeFrom(directory) !== wanted)
}

/** The TypeScript files that run in Node. */
function programs() {
  return sources(root, '', ['.ts']).filter((file) => !file.endsWith('.d.ts') && !isBundled(file))
}

/** Whether the file is part of the page; the builder of its base map runs in Node. */
function isBundled(file) {
  return file.startsWith('console/') && !file.startsWith('console/world/')
}

function madeFrom(directory) {
  try {
    return readFileSync(join(directory, STAMP), 'utf8')
  } catch {
    return undefined
  }
}

const freshOf = ({ directory }) =>
  join(root, `dist.new${directory.slice(dist.length).replaceAll(/[\\/]/g, '-')}`)

async function make(part) {
  const fresh = freshOf(part)
  rmSync(fresh, { recursive: true, force: true })
  await part.make(fresh)
  writeFileSync(join(fresh, STAMP), part.wanted)
}

function replace(part) {
  const { directory, kept } = part
  for (const place of kept) {
    if (!existsSync(join(directory, place))) continue
    mkdirSync(dirname(join(freshOf(part), place)), { recursive: true })
    renameSync(join(directory, place), join(freshOf(part), place))
  }
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(dirname(directory), { recursive: true })
  renameSync(freshOf(part), directory)
}

function lock() {
  const folder = join(root, 'node_modules', '.cache')
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(join(folder, 'build-lock.sqlite'), { timeout: 120_000 })
  database.exec('BEGIN EXCLUSIVE')
  return () => database.close()
}

/** Runs a program of an installed package. */
async function run(program, options) {
  const file = join(root, 'node_modules', program)
  const tool = spawn(process.execPath, [file, ...options], {
    cwd: root,
    // Tests use the same build as operators.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await new Promise((resolve, reject) => tool.on('exit', resolve).on('error', reject))
  if (code !== 0) throw new Error('the sources do not compile: see the messages above')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await build()
  await makeWorld()
}
