import { join } from 'node:path'
import { holdFile } from './hold-file.ts'

const LOCK = 'in-use.lock'

/**
 * Locks a directory, so that no two processes use it at once. The operating system releases the lock
 * when the process ends, even by kill -9. `variable` is the setting that names the directory.
 * @throws {Error} when another process holds it.
 */
export function holdDirectory(
  directory: string,
  { variable }: { variable: string },
): { release(): void } {
  const held = holdFile(join(directory, LOCK), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process works on ${directory}: stop it, or set ${variable} to another folder`,
  )
}

/**
 * Locks a directory for a command that works on the data of `npm start` while that is stopped. `task`:
 * the command's task, for the message.
 * @throws {Error} when the service runs there.
 */
export function holdStopped(directory: string, { task }: { task: string }): { release(): void } {
  const held = holdFile(join(directory, LOCK), { waitMs: 0 })
  if (held !== undefined) return held
  throw new Error(`the service is running on ${directory}: stop it, ${task}, start it again`)
}
