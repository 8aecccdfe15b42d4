// node scripts/run.mjs PROGRAM [ARGUMENT ...]: builds if needed, then runs dist/PROGRAM.js in the
// same process, so that it gets the signals and sets the exit code.
import { build } from './build.mjs'
import { makeWorld } from './make-world.mjs'

const [program] = process.argv.splice(2, 1)
if (program === undefined) {
  process.stderr.write('usage: node scripts/run.mjs PROGRAM [ARGUMENT ...], e.g. embedded/main\n')
  process.exit(2)
}
try {
  await build()
} catch (error) {
  process.stderr.write(`${error.message}\nIf a package is missing, run: npm ci\n`)
  process.exit(1)
}
if (program === 'embedded/main' || program === 'admin-api/main') makeWorldMeanwhile()
if (process.env.npm_lifecycle_event !== undefined) stopWithShell()
await import(new URL(`../dist/${program}.js`, import.meta.url).href)

/** The program neither waits for the console's base map nor stays alive for it. */
function makeWorldMeanwhile() {
  makeWorld({ background: true }).catch((error) =>
    process.stderr.write(`the console has no base map: ${error.message}\n`),
  )
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
