import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe } from '@jest/globals'
import { noteSkipped } from '../services/test-run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Runs `docker ARGUMENT…`; resolves with its standard output, rejects with its error output. */
export async function docker(...args: readonly string[]): Promise<string> {
  const options = { cwd: root, env: environment(), maxBuffer: 64 * 1024 * 1024 }
  return (await run('docker', args, options)).stdout
}

/**
 * A `describe` whose tests start containers; skipped where Docker is unavailable, unless required.
 */
export async function describeContainers(suite: string, define: () => void): Promise<void> {
  const reason = await whyNoContainers()
  if (reason === undefined) return describe(suite, define)
  if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(reason)
  noteSkipped(suite, reason)
  describe.skip(suite, define)
}

async function whyNoContainers(): Promise<string | undefined> {
  const options = { env: environment(), timeout: 20_000 }
  try {
    await run('docker', ['info'], options)
    await run('docker', ['compose', 'version'], options)
    return undefined
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return code === 'ENOENT' ? 'docker is not installed' : 'no Docker daemon with compose answers'
  }
}

/** Only variables for reaching the daemon: others would override the test's. */
function environment(): Record<string, string> {
  const wanted = /^(PATH|HOME|DOCKER_.*|XDG_.*|SSH_AUTH_SOCK)$/
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      wanted.test(key) && value !== undefined ? [[key, value]] : [],
    ),
  )
}
