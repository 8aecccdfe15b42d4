import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes that the files of a data directory take. */
export async function dataBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map(({ name }) => sizeOf(directory, name))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** The bytes that this user can still write to the disk of a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** 0 for a file that has just been removed, as SQLite's journals are. */
async function sizeOf(directory: string, name: string): Promise<number> {
  try {
    return (await stat(join(directory, name))).size
  } catch {
    return 0
  }
}
