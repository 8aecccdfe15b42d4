import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from './logger.ts'

/**
 * Makes the directory if it is not there, and it and its files this user's alone, also those that the
 * process makes from now on: positions, hashes of keys and passwords are nobody else's.
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
    // A folder of another user, or a file system without modes: whoever set it up so has decided.
    logger.warn({ err: error, directory }, 'the data directory cannot be made private')
  }
}
