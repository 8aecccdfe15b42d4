// node guard.mjs OWNER_PID FOLDER process COMMAND ARGUMENT... node guard.mjs OWNER_PID FOLDER
// container ID Watches a server for the test run that owns it, and stops it when that run has
// ended, for whatever reason, so that an interrupted run leaves nothing behind. FOLDER is then
// removed. SIGTERM lets the server stop, SIGUSR2 kills it; a container is removed by either.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { clearInterval, setInterval } from 'node:timers'

const [ownerPid, folder, kind, ...rest] = process.argv.slice(2)
const end = kind === 'process' ? guardProcess(rest) : guardContainer(rest)
let orphaned = false

process.on('SIGTERM', () => end('SIGTERM'))
process.on('SIGUSR2', () => end('SIGKILL'))
const watch = setInterval(() => {
  if (lives(Number(ownerPid))) return
  orphaned = true
  end('SIGKILL')
}, 250)

function guardProcess([command, ...args]) {
  const server = spawn(command, args, { stdio: 'inherit' })
  server.on('error', (error) => {
    process.stderr.write(`${command}: ${error.message}\n`)
    ended()
  })
  server.on('exit', ended)
  return (signal) => server.kill(signal)
}

function guardContainer([id]) {
  return async () => {
    clearInterval(watch)
    const { getContainerRuntimeClient } = await import('testcontainers')
    const { container } = await getContainerRuntimeClient()
    await container.getById(id).remove({ force: true, v: true })
    ended()
  }
}

function ended() {
  clearInterval(watch)
  if (orphaned) rmSync(folder, { recursive: true, force: true })
  process.exit()
}

function lives(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
