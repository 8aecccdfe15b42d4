import { join } from 'node:path'
import { holdFile } from '../runtime/sqlite/hold-file.ts'

/**
 * Holds the data directory for this process: two programs on one directory would each
 * answer for the other's devices. The hold is the operating system's, so it ends with the process,
 * however that ends.
 * @throws {Error} when another process holds it.
 */
export function holdDataDirectory(directory: string): { release(): void } {
  const held = holdFile(join(directory, 'in-use.lock'), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process works on ${directory}: stop it, or set DATA_DIR to another folder`,
  )
}
