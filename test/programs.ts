import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from '../scripts/build.mjs'
import { eventually } from './eventually.ts'
import { endedWithTheTests, type RunningProgram } from './running-programs.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// Before tests that start programs, so that no test's time limit includes a build.
await build()

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

/**
 * Starts a program as its npm script does, built if needed, with only `env` set and `input` on
 * standard input, generated as fast as the program reads it.
 */
export function startProgram(
  program: string,
  {
    args = [],
    env = {},
    input = '',
  }: {
    args?: readonly string[]
    env?: Record<string, string>
    input?: string | Iterable<string>
  } = {},
): RunningProgram {
  const options = optionsOf(program)
  const child = spawn(process.execPath, [...options, 'scripts/run.mjs', program, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A program that does not read its input may have ended already.
  child.stdin.on('error', () => undefined)
  Readable.from(input).pipe(child.stdin)
  return endedWithTheTests(child)
}

/** Node's options in the npm script of a program. */
function optionsOf(program: string): string[] {
  const script = Object.values(scripts).find((one) => one.endsWith(` scripts/run.mjs ${program}`))
  return script?.split(' ').filter((word) => word.startsWith('--')) ?? []
}

export type Embedded = RunningProgram & { readonly ingestUrl: string; readonly adminUrl: string }

/** The service as started by `npm start`, on free ports, once it accepts requests. */
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
 * The address that a program logs when it listens. Rejects if the program ends first, or takes
 * longer than `withinMs` and is then ended.
 */
export async function listens(
  program: RunningProgram,
  what: string,
  { withinMs = 120_000 }: { withinMs?: number } = {},
): Promise<string> {
  const line = new RegExp(`"url":"([^"]+)","msg":"${what} listening"`)
  let ended = false
  program.ended.then(
    () => (ended = true),
    () => undefined,
  )
  const found = await eventually(() => line.exec(program.output())?.[1] ?? (ended && 'ended'), {
    withinMs,
  }).catch(() => {
    program.process.kill('SIGKILL')
    throw new Error(`no "${what} listening" within ${withinMs} ms:\n${program.output()}`)
  })
  if (found === 'ended') throw new Error(`ended before it listened:\n${program.output()}`)
  return found
}
