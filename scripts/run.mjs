// node scripts/run.mjs PROGRAM [ARGUMENT ...]: builds if needed, then runs dist/PROGRAM.js in this
// same process, so that signals and exit codes are the program's own.
import { build } from './build.mjs'

const [program] = process.argv.splice(2, 1)
if (program === undefined) {
  process.stderr.write('usage: node scripts/run.mjs PROGRAM [ARGUMENT ...], e.g. embedded/main\n')
  process.exit(2)
}
try {
  await build()
} catch (error) {
  process.stderr.write(`${error.message}\nIf TypeScript is not installed, run: npm ci\n`)
  process.exit(1)
}
if (process.env.npm_lifecycle_event !== undefined) stopWithShell()
await import(new URL(`../dist/${program}.js`, import.meta.url).href)

/**
 * A signal sent to npm ends the shell between npm and us and goes no further: without the shell we
 * would run on unseen, so its end is taken for the signal that it was.
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
