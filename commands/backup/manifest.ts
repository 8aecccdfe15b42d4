import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory, type NewFolder } from './new-folder.ts'

/** The file that completes a backup: a folder without it is none. */
const MANIFEST_FILE = 'backup.json'
const FORMAT = 1

/** The content of a backup. Times are milliseconds since epoch. */
export type Manifest = {
  readonly format: number
  readonly version: string
  /** All that was acknowledged before is in the backup. */
  readonly begunAt: number
  readonly files: readonly BackupFile[]
  /** Events in the log, and those of them that its read models have. */
  readonly events: number
  readonly projected: number
}

export type BackupFile = { readonly name: string; readonly bytes: number; readonly sha256: string }

/** Claims a new folder for a backup, or undoes it. @throws {Error} when another backup has claimed it. */
export async function claimFolder(directory: string, folder: NewFolder): Promise<void> {
  try {
    await writeFile(unfinishedIn(directory), '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      await folder.undo()
      throw error
    }
    throw new Error(`another backup goes to ${directory}: choose a new folder`, { cause: error })
  }
}

/** Completes a backup, once everything else is on disk. */
export async function writeManifest(
  directory: string,
  contents: Omit<Manifest, 'format'>,
): Promise<Manifest> {
  const manifest = { format: FORMAT, ...contents }
  const unfinished = unfinishedIn(directory)
  const written = await open(unfinished, 'w')
  try {
    await written.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await written.sync()
  } finally {
    await written.close()
  }
  await rename(unfinished, join(directory, MANIFEST_FILE))
  await syncDirectory(directory)
  return manifest
}

/** @throws {Error} when the folder has no complete backup, or one that this program does not know. */
export async function readManifest(directory: string): Promise<Manifest> {
  const file = join(directory, MANIFEST_FILE)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new Error(
      `${directory} has no ${MANIFEST_FILE}: it is no backup, or one that did not finish; choose another one`,
      { cause: error },
    )
  }
  const manifest = parsed(text)
  if (manifest === undefined) throw new Error(`${file} is damaged: choose another backup`)
  if (manifest.format > FORMAT) {
    throw new Error(
      `${directory} was made by a newer version (${manifest.version}): restore it with that version`,
    )
  }
  return manifest
}

function unfinishedIn(directory: string): string {
  return join(directory, `${MANIFEST_FILE}.new`)
}

function parsed(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest
    const isWhole =
      Number.isInteger(manifest.format) &&
      Number.isFinite(manifest.begunAt) &&
      manifest.files.length > 0 &&
      manifest.files.every(
        // A name never leads out of the folder.
        ({ name, bytes, sha256 }) =>
          /^[a-z0-9-]+\.sqlite$/.test(name) && bytes >= 0 && sha256 !== '',
      )
    return isWhole ? manifest : undefined
  } catch {
    return undefined
  }
}
