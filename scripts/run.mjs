// node scripts/run.mjs PROGRAM [ARGUMENT ...]: builds if needed, then runs dist/PROGRAM.js in the
// same process, so that signals reach it and its exit code is ours.
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
