import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'

/** SQLite makes and removes the last two. */
const ENDINGS = ['', '-wal', '-shm']

/**
 * Checks that this user can write to a directory. `variable` is the setting that names it.
 * @throws {Error} that says what to do.
 */
export function requireWritableDirectory(
  directory: string,
  { variable }: { variable: string },
): void {
  const { R_OK, W_OK, X_OK } = constants
  const fault = faultOf(directory, R_OK | W_OK | X_OK, directory)
  if (fault === undefined) return
  const otherwise = `or set ${variable} to another folder`
  throw new Error(`the folder ${directory} (${variable}) ${fault}, ${otherwise}`)
}

/**
 * Checks that this user can write to a database file, if it exists.
 * @throws {Error} that says what to do.
 */
export function requireWritableFile(file: string): void {
  for (const path of ENDINGS.map((ending) => file + ending)) {
    const fault = faultOf(path, constants.R_OK | constants.W_OK, dirname(file))
    if (fault !== undefined) throw new Error(`the file ${path} ${fault}`)
  }
}

export function isWritable(file: string): boolean {
  return faultOf(file, constants.W_OK, dirname(file)) === undefined
}

/** Undefined if the path can be accessed, or does not exist. */
function faultOf(path: string, mode: number, directory: string): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'EROFS') return 'is on a read-only file system: mount it so that it can be written'
    const user = process.getuid?.()
    if (user === undefined) return `cannot be written (${code}): change its permissions`
    return (
      `cannot be written by the user ${user}, who runs this: as root do \`chown -R ${user} ${directory}\`` +
      ' (of a container: on the mounted folder of the host)'
    )
  }
}
