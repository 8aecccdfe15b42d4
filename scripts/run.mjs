// node scripts/run.mjs PROGRAM [ARGUMENT ...]: builds if needed, then runs dist/PROGRAM.js in the
// same process, so that it gets the signals and sets the exit code. Imports only modules that the
// oldest Node has: others may fail to load where Node is too old.
import { readFileSync } from 'node:fs'

const [program] = process.argv.splice(2, 1)
if (program === undefined) {
  endWith('usage: node scripts/run.mjs PROGRAM [ARGUMENT ...], e.g. embedded/main', 2)
}
requireNode()
try {
  const { build } = await import('./build.mjs')
  await build()
} catch (error) {
  endWith(error.code === 'ERR_MODULE_NOT_FOUND' ? missing(error) : cannotBuild(error))
}
if (program === 'embedded/main' || program === 'admin-api/main') makeWorldMeanwhile()
if (process.env.npm_lifecycle_event !== undefined) stopWithShell()
await import(new URL(`../dist/${program}.js`, import.meta.url).href)

function endWith(message, code = 1) {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

/** Exits on a version of Node that package.json does not allow. */
function requireNode() {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { node: supported } = JSON.parse(manifest).engines
  const { node: own } = process.versions
  if (supported.split('||').some((range) => isIn(range.trim(), own))) return
  endWith(`Node ${own} cannot run this: install Node 24 or another of ${supported}`)
}

/** For ranges such as `^20.19.0` and `>=24`. */
function isIn(range, version) {
  const [major, minor, patch] = version.split('.').map(Number)
  const [least, leastMinor = 0, leastPatch = 0] = range.replace(/^\D+/, '').split('.').map(Number)
  if (range.startsWith('^') && major !== least) return false
  if (major !== least) return major > least
  return minor !== leastMinor ? minor > leastMinor : patch >= leastPatch
}

function missing(error) {
  return `A package is missing (${error.message.split('\n')[0]}): run npm ci`
}

function cannotBuild(error) {
  const isRefused = ['EACCES', 'EPERM', 'EROFS'].includes(error.code)
  // SQLite's message for a file that it may not write.
  if (!isRefused && !/unable to open database file|readonly/.test(error.message)) {
    return `${error.message}\nIf a package is missing, run: npm ci`
  }
  const { pathname } = new URL('..', import.meta.url)
  return (
    `This user may not build in ${pathname} (${error.message}): ` +
    'run npm run build as the user who owns the folder'
  )
}

/** The program neither waits for the console's base map nor stays alive for it. */
async function makeWorldMeanwhile() {
  try {
    const { makeWorld } = await import('./make-world.mjs')
    await makeWorld({ background: true })
  } catch (error) {
    process.stderr.write(`the console has no base map: ${error.message}\n`)
  }
}

/**
 * A signal sent to npm ends the shell between npm and us but does not reach us. So the end of the
 * shell counts as SIGTERM.
 */
function stopWithShell() {
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}
