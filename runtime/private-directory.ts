import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from './logger.ts'

/**
 * Creates the directory if needed, and restricts it and its files, including those that this process
 * creates later, to the current user: they hold positions and hashes of keys and passwords.
 */
export function privateDirectory(
  directory: string,
  { logger }: { logger: Pick<Logger, 'warn'> },
): void {
  process.umask(0o077)
  mkdirSync(directory, { recursive: true })
  try {
    chmodSync(directory, 0o700)
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.isFile()) chmodSync(join(directory, entry.name), 0o600)
    }
  } catch (error) {
    // A directory of another user, or a file system without modes: keep it as it was set up.
    logger.warn({ err: error, directory }, 'the data directory cannot be made private')
  }
}
