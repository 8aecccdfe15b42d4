import { mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory and the missing ones above it. Returns the topmost that it made, undefined if the
 * directory exists. Node's own `recursive` never returns where a file system refuses new directories
 * with ENOENT, as /proc does. `variable` is the setting that names the directory.
 * @throws {Error} that names the directory; nothing is left of it then.
 */
export function makeDirectory(
  directory: string,
  { mode, variable }: { mode?: number; variable?: string } = {},
): string | undefined {
  const missing: string[] = []
  for (let path = resolve(directory); !isDirectory(path); path = dirname(path)) missing.push(path)
  const made: string[] = []
  try {
    for (const path of missing.reverse()) if (makeOne(path, mode)) made.push(path)
  } catch (error) {
    for (const path of made.reverse()) rmdirSync(path)
    const { code, path, message } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? `${path} is not a folder` : message
    const remedy = variable === undefined ? 'choose another one' : `set ${variable} to another one`
    throw new Error(`the folder ${directory} cannot be created (${reason}): ${remedy}`, {
      cause: error,
    })
  }
  return made[0]
}

/** False if another process has made it meanwhile. */
function makeOne(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, mode)
    return true
  } catch (error) {
    if (isDirectory(path)) return false
    throw error
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
