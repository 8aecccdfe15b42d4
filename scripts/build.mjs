// Compiles the TypeScript sources into dist/ if they have changed. Programs that start at the same
// time wait for one build: it holds a lock on an SQLite file, which the operating system releases
// when the process ends.
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const stampFile = join(dist, '.made-from')
const notSources = new Set(['node_modules', 'dist', 'data', 'test', 'bench', 'coverage'])

/** Brings dist/ up to date. Rejects if the sources do not compile; the compiler prints why. */
export async function build() {
  const wanted = fingerprint()
  if (madeFrom() === wanted) return
  const unlock = lock()
  try {
    if (madeFrom() === wanted) return
    process.stderr.write('building … (only after a change)\n')
    const fresh = `${dist}.new`
    rmSync(fresh, { recursive: true, force: true })
    await compile(fresh)
    for (const file of sources('schemas', '.avsc')) cpSync(join(root, file), join(fresh, file))
    writeFileSync(join(fresh, '.made-from'), wanted)
    rmSync(dist, { recursive: true, force: true })
    renameSync(fresh, dist)
  } finally {
    rmSync(`${dist}.new`, { recursive: true, force: true })
    unlock()
  }
}

function madeFrom() {
  try {
    return readFileSync(stampFile, 'utf8')
  } catch {
    return undefined
  }
}

function fingerprint() {
  const hash = createHash('sha256')
  for (const file of [
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    ...sources('', '.ts'),
    ...sources('schemas', '.avsc'),
  ]) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function sources(folder, ending) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(
      (entry) => !entry.name.startsWith('.') && !(folder === '' && notSources.has(entry.name)),
    )
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return sources(path, ending)
      return path.endsWith(ending) ? [path] : []
    })
    .sort()
}

function lock() {
  const folder = join(root, 'node_modules', '.cache')
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(join(folder, 'build-lock.sqlite'), { timeout: 120_000 })
  database.exec('BEGIN EXCLUSIVE')
  return () => database.close()
}

async function compile(outDir) {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const compiler = spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', outDir], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await new Promise((resolve, reject) =>
    compiler.on('exit', resolve).on('error', reject),
  )
  if (code !== 0) throw new Error('the sources do not compile: see the messages above')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await build()
