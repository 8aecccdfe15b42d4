import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

/** One of our programs in a separate process, with its output so far. */
export type RunningProgram = {
  readonly process: ChildProcess
  readonly output: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

const running = new Set<RunningProgram>()

/** Kills every program started by this test file that still runs. */
export async function endPrograms(): Promise<void> {
  killPrograms()
  await Promise.all([...running].map(({ ended }) => ended))
}

/** Kills all running programs that this process started, without waiting for them to end. */
export function killPrograms(): void {
  for (const { process: child } of running) {
    child.kill('SIGKILL')
    // Its child processes, such as a compiler, may hold them open.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

/** Collects a process's output; `endPrograms` ends it at the latest. */
export function endedWithTheTests(
  child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable },
): RunningProgram {
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 1))
  })
  const started = { process: child, output: () => output, ended }
  running.add(started)
  ended.then(
    () => running.delete(started),
    () => undefined,
  )
  return started
}
