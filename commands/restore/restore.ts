import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expectRoom, type Show, copyFile } from '../backup/backup.ts'
import { checkCopy } from '../backup/copy-database.ts'
import { isFile, readManifest, type BackupFile, type Manifest } from '../backup/manifest.ts'
import { expectEmpty, newFolder, syncDirectory, type NewFolder } from '../backup/new-folder.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { OpenData } from '../open.ts'
import { freeBytes, holdDirectory, LOCK, noteBackup } from '../../runtime/sqlite/data-directory.ts'

/**
 * A subfolder of the data directory that is not mistaken for data. A killed restore leaves it
 * behind.
 */
const UNFINISHED = 'restoring'
const OURS = [LOCK, `${LOCK}-journal`, UNFINISHED]

/**
 * Restores a backup into an empty data directory. On failure the directory is left unchanged.
 * @throws {Error} that says why nothing was restored.
 */
export async function restore({
  from,
  to,
  openData,
  show,
  free = freeBytes,
}: {
  from: string
  to: string
  openData: OpenData
  show: Show
  free?: (directory: string) => Promise<number>
}): Promise<Manifest> {
  const manifest = await readManifest(from)
  for (const file of manifest.files) await expectWhole(from, file)
  const folder = await newFolder(to, OURS)
  const held = await hold(to, folder)
  try {
    // Another restore may have just ended.
    await expectEmpty(to, OURS)
    try {
      const needed = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
      await expectRoom({ needed, directory: to, free })
      await copyChecked({ from, to: join(to, UNFINISHED), manifest, show })
      show('checks the copy')
      await expectAsBackedUp(join(to, UNFINISHED), { manifest, openData })
      await putInPlace(to, manifest)
    } catch (error) {
      await folder.undo()
      throw error
    }
  } finally {
    held.release()
  }
  return manifest
}

/** Removes the folder if it cannot be written; it remains if another process has it open. */
async function hold(directory: string, folder: NewFolder): Promise<{ release(): void }> {
  try {
    return holdDirectory(directory, { variable: 'DATA_DIR' })
  } catch (error) {
    if (error instanceof DependencyError) await folder.undo()
    throw error
  }
}

async function copyChecked({
  from,
  to,
  manifest: { files },
  show,
}: {
  from: string
  to: string
  manifest: Manifest
  show: Show
}): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { mode: 0o700 })
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const { name, sha256 } of files) {
    const copied = await copyFile(join(from, name), join(to, name), (bytes) => {
      done += bytes
      show(`copies ${name}: ${Math.floor((100 * done) / Math.max(1, total))} % of the backup`)
    })
    if (copied !== sha256) throw damagedFileError(join(from, name))
  }
}

/**
 * The log comes last: without it no service accepts the read models of a restore that was killed
 * here.
 */
async function putInPlace(directory: string, { files, begunAt }: Manifest): Promise<void> {
  for (const { name } of files)
    await rename(join(directory, UNFINISHED, name), join(directory, name))
  await rm(join(directory, UNFINISHED), { recursive: true })
  await noteBackup(directory, begunAt)
  await syncDirectory(directory)
}

/** A quick check before anything is copied. */
async function expectWhole(directory: string, { name, bytes }: BackupFile): Promise<void> {
  const file = join(directory, name)
  if (!(await isFile(file)) || (await stat(file)).size !== bytes) throw damagedFileError(file)
}

/**
 * @throws {Error} when files of the copy are damaged, or it has different events than the backup
 * states.
 */
async function expectAsBackedUp(
  directory: string,
  { manifest, openData }: { manifest: Manifest; openData: OpenData },
): Promise<void> {
  const { events } = await checkCopy(directory, openData)
  if (events === manifest.events) return
  throw new Error(
    `the backup is damaged: it has ${events} events, but its manifest says ${manifest.events}; ` +
      'choose another backup',
  )
}

function damagedFileError(file: string): Error {
  return new Error(`${file} is damaged: it has changed since the backup; choose another backup`)
}
