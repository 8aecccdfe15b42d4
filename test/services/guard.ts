import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ownerPid, runFolder } from './test-run.ts'

/** Watches one server, which is stopped with the test run at the latest. */
export type Guard = {
  readonly pid: number
  /** Resolves when both server and guard have ended. */
  readonly ended: Promise<void>
  readonly isEnded: () => boolean
  /** Ends the server as a power cut would. */
  readonly kill: () => Promise<void>
  /** Lets the server shut down. */
  readonly stop: () => Promise<void>
}

export function startGuard(
  what: readonly ['process', command: string, ...args: string[]] | readonly ['container', string],
  logFile: string,
): Guard {
  const script = fileURLToPath(new URL('./guard.mjs', import.meta.url))
  const log = openSync(logFile, 'a')
  const child = spawn(
    process.execPath,
    [script, String(ownerPid()), runFolder(), ...what],
    // A separate session: signals that end a worker or come from the terminal do not reach it.
    { detached: true, stdio: ['ignore', log, log] },
  )
  closeSync(log)
  child.unref()
  const { pid } = child
  if (pid === undefined) throw new Error('cannot start node')
  let isEnded = false
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isEnded = true
      resolve()
    })
  })
  const signal = (name: NodeJS.Signals) => {
    child.ref()
    if (!isEnded) process.kill(pid, name)
    return ended
  }
  return {
    pid,
    ended,
    isEnded: () => isEnded,
    kill: () => signal('SIGUSR2'),
    stop: () => signal('SIGTERM'),
  }
}
