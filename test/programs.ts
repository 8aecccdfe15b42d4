import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A program of ours that runs in a process of its own, and what it has printed. */
export type RunningProgram = {
  readonly process: ChildProcess
  readonly output: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

const running = new Set<RunningProgram>()

/** Ends at once whatever this test file has started and still runs. */
export async function endPrograms(): Promise<void> {
  for (const { process: child } of running) {
    child.kill('SIGKILL')
    // What it has started may hold them open: a compiler, say.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  await Promise.all([...running].map(({ ended }) => ended))
}

/** Starts a program as its npm script does, built if needed, with only `env` set and `input` to read. */
export function startProgram(
  program: string,
  {
    args = [],
    env = {},
    input = '',
  }: { args?: readonly string[]; env?: Record<string, string>; input?: string } = {},
): RunningProgram {
  const options = optionsOf(program)
  const child = spawn(process.execPath, [...options, 'scripts/run.mjs', program, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A program that does not read it may have ended already.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return endedWithTheTests(child)
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

/** Those of node in the npm script of a program. */
function optionsOf(program: string): string[] {
  const script = Object.values(scripts).find((one) => one.endsWith(` scripts/run.mjs ${program}`))
  return script?.split(' ').filter((word) => word.startsWith('--')) ?? []
}

export type Embedded = RunningProgram & { readonly ingestUrl: string; readonly adminUrl: string }

/** What `npm start` runs, on free ports, once it takes requests. */
export async function startEmbedded(
  directory: string,
  env: Record<string, string> = {},
): Promise<Embedded> {
  const program = startProgram('embedded/main', {
    env: {
      DATA_DIR: directory,
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      RATE_LIMIT_ADMIN: 'off',
      RATE_LIMIT_DEVICE: 'off',
      ...env,
    },
  })
  const adminUrl = await listens(program, 'admin API')
  return { ...program, ingestUrl: await listens(program, 'ingest API'), adminUrl }
}

/**
 * The address that a program logs when it listens. Rejects when it ends instead, or takes longer than
 * `withinMs`: then it is ended.
 */
export async function listens(
  program: RunningProgram,
  what: string,
  { withinMs = 60_000 }: { withinMs?: number } = {},
): Promise<string> {
  const line = new RegExp(`"url":"([^"]+)","msg":"${what} listens"`)
  let ended = false
  program.ended.then(
    () => (ended = true),
    () => undefined,
  )
  const found = await eventually(() => line.exec(program.output())?.[1] ?? (ended && 'ended'), {
    withinMs,
  }).catch(() => {
    program.process.kill('SIGKILL')
    throw new Error(`no "${what} listens" within ${withinMs} ms:\n${program.output()}`)
  })
  if (found === 'ended') throw new Error(`ended before it listened:\n${program.output()}`)
  return found
}

/** A folder for one test, gone with `remove`. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'gps-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
