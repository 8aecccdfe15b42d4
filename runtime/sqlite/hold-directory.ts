import { join } from 'node:path'
import { holdFile } from './hold-file.ts'

/**
 * Locks a directory, so that no two processes use it at once. The operating system releases the lock
 * when the process ends, even by kill -9. `variable` is the setting that names the directory.
 * @throws {Error} when another process holds it.
 */
export function holdDirectory(
  directory: string,
  { variable }: { variable: string },
): { release(): void } {
  const held = holdFile(join(directory, 'in-use.lock'), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process works on ${directory}: stop it, or set ${variable} to another folder`,
  )
}
