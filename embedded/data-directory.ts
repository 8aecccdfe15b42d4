import { join } from 'node:path'
import { holdFile } from '../runtime/sqlite/hold-file.ts'

/**
 * Locks the data directory, so that no two services use it at once. The operating system releases
 * the lock when the process ends, even by kill -9.
 * @throws {Error} when another process holds it.
 */
export function holdDataDirectory(directory: string): { release(): void } {
  const held = holdFile(join(directory, 'in-use.lock'), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process works on ${directory}: stop it, or set DATA_DIR to another folder`,
  )
}
