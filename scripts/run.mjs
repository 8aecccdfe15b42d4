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
await import(new URL(`../dist/${program}.js`, import.meta.url).href)
