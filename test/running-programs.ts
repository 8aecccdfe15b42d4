import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

/** A program of ours that runs in a process of its own, and what it has printed. */
export type RunningProgram = {
  readonly process: ChildProcess
  readonly output: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

const running = new Set<RunningProgram>()

/** Kills every program that this test file has started and that still runs. */
export async function endPrograms(): Promise<void> {
  killPrograms()
  await Promise.all([...running].map(({ ended }) => ended))
}

/** Kills what this process has started and still runs, and does not wait for its end. */
export function killPrograms(): void {
  for (const { process: child } of running) {
    child.kill('SIGKILL')
    // Processes that it started may hold them open: a compiler, say.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

/** Gathers what a process prints; `endPrograms` ends it at the latest. */
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
