import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../runtime/sqlite/opening.ts'

/** An empty file system contains this folder. */
const LOST_AND_FOUND = 'lost+found'

/** A folder that was empty, or that this program created. */
export type NewFolder = {
  /** Removes its current contents, and the folder if this program created it. */
  undo(): Promise<void>
}

/**
 * Creates a folder for this user alone, unless it exists and is empty except for the `ignored`
 * names.
 * @throws {Error} when it contains anything else, or cannot be created.
 */
export async function newFolder(
  directory: string,
  ignored: readonly string[] = [],
): Promise<NewFolder> {
  const firstMade = makeDirectory(directory, { mode: 0o700 })
  await expectEmpty(directory, ignored)
  return {
    async undo() {
      const listPaths = async () =>
        (await listNames(directory)).map((name) => join(directory, name))
      const made = firstMade === undefined ? await listPaths() : [firstMade]
      for (const path of made) await rm(path, { recursive: true, force: true })
    },
  }
}

/** @throws {Error} when anything but the `ignored` names is in the folder. */
export async function expectEmpty(directory: string, ignored: readonly string[]): Promise<void> {
  const names = await listNames(directory)
  if (names.every((name) => ignored.includes(name))) return
  throw new Error(`${directory} is not empty: choose a new folder, or empty it`)
}

/** Flushes the names of new files to disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const opened = await open(directory, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

async function listNames(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name !== LOST_AND_FOUND)
}
