// npm run dev: the embedded service, which restarts after each change of its sources, and the
// console with live reload in front of its admin API.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const { ADMIN_PORT = '8081', CONSOLE_DEV_PORT = '5173' } = process.env

if (process.argv.length > 2) {
  process.stdout.write(
    'npm run dev takes no arguments. It starts the embedded service as npm start does (.env.example names its\n' +
      'variables), starts it again after a change, and serves the console with live reload on port 5173\n' +
      '(CONSOLE_DEV_PORT). Ctrl-C ends both.\n',
  )
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

/** Vite watches the console's sources, and no program imports tests or the bench. */
const unwatched = ['console', 'test', 'bench', 'docs', 'ops', 'node_modules', 'dist', 'data']
const sources = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .filter(({ name }) => !unwatched.includes(name))
  .map(({ name }) => join(root, name))

/** A save may change several files, or one file several times. */
const SETTLED_MS = 100

let service = start()
let isStopping = false
let timer

function start() {
  const program = [join(root, 'scripts', 'run.mjs'), 'embedded/main']
  const child = spawn(process.execPath, ['--enable-source-maps', '--inspect', ...program], {
    stdio: 'inherit',
  })
  child.on('exit', (code) => {
    if (isStopping) process.exit(code ?? 1)
    if (child !== service) return
    if (child.isReplaced) service = start()
    else process.stdout.write('the service has ended; a saved change starts it again\n')
  })
  return child
}

function restart() {
  if (service.exitCode !== null || service.signalCode !== null) {
    service = start()
    return
  }
  service.isReplaced = true
  service.kill('SIGTERM')
}

const target = `http://127.0.0.1:${ADMIN_PORT}`
// Not /api and /map: folders of the console's sources have these names.
const paths = ['/api/v1', '/docs', '/openapi.json', '^/map/[^/]+[.]pmtiles$', '/healthz', '/readyz']
const site = await createServer({
  configFile: join(root, 'console', 'vite.config.mjs'),
  server: {
    host: '127.0.0.1',
    port: Number(CONSOLE_DEV_PORT),
    strictPort: true,
    proxy: Object.fromEntries(paths.map((path) => [path, { target }])),
  },
})
await site.listen()
// Unlike `node --watch`, it also notices files that editors save by renaming.
site.watcher.add(sources)
site.watcher.on('all', (event, path) => {
  if (!sources.some((folder) => path.startsWith(folder + sep))) return
  clearTimeout(timer)
  timer = setTimeout(restart, SETTLED_MS)
})
process.stdout.write(`the console with live reload: http://127.0.0.1:${CONSOLE_DEV_PORT}/\n`)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    isStopping = true
    if (service.exitCode !== null) process.exit(0)
    service.kill(signal)
  })
}
