import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../runtime/clock.ts'
import { VERSION } from '../../runtime/process/instance.ts'
import { dataBytes, freeBytes, noteBackup } from '../../runtime/sqlite/data-directory.ts'
import type { OpenData } from '../open.ts'
import { checkCopy } from './check-copy.ts'
import { copyDatabase } from './copy-database.ts'
import { copyFile, sha256Of } from './copy-file.ts'
import { claimFolder, writeManifest, type BackupFile, type Manifest } from './manifest.ts'
import { newFolder } from './new-folder.ts'

/** Shows what is under way. */
export type Show = (step: string) => void

/**
 * Copies the data in `from`, which may be in use, to `to`, and checks the copy. On failure `to` is as it was.
 * @throws {Error} that says why there is no backup.
 */
export async function backUp({
  from,
  to,
  logFile,
  copyStore,
  openData,
  clock,
  show,
  free = freeBytes,
}: {
  from: string
  to: string
  logFile: string
  /** Copies the files of the store, with `copy`, in an order that keeps them consistent; returns their names. */
  copyStore: (
    folders: { from: string; to: string },
    copy: (name: string) => Promise<void>,
  ) => Promise<string[]>
  openData: OpenData
  clock: Clock
  show: Show
  free?: (directory: string) => Promise<number>
}): Promise<Manifest> {
  const begunAt = clock.now()
  const folder = await newFolder(to)
  await claimFolder(to, folder)
  let manifest
  try {
    await expectRoom({ needed: await dataBytes(from), directory: to, free })
    const copy = async (name: string) => {
      const [source, target] = [join(from, name), join(to, name)]
      if (!name.endsWith('.sqlite')) await copyFile(source, target, () => undefined)
      else {
        await copyDatabase(source, target, (part) =>
          show(`copies ${name}: ${Math.floor(100 * part)} %`),
        )
      }
    }
    const names = await copyStore({ from, to }, copy)
    // Last: everything in the store was in the log by then.
    await copy(logFile)
    show('checks the copy')
    const { events, projected } = await checkCopy(to, openData)
    const files: BackupFile[] = []
    for (const name of [...names, logFile]) files.push(await onDisk(to, name))
    manifest = await writeManifest(to, {
      version: VERSION,
      begunAt,
      events,
      projected,
      files,
    })
  } catch (error) {
    await folder.undo()
    throw error
  }
  // The backup is complete, whether or not the service knows of it.
  await noteBackup(from, begunAt).catch(() =>
    show(`${from} cannot be written: no note of it there`),
  )
  return manifest
}

/** @throws {Error} when the disk of a folder has no room for the copy. */
export async function expectRoom({
  needed,
  directory,
  free,
}: {
  needed: number
  directory: string
  free: (directory: string) => Promise<number>
}): Promise<void> {
  const room = await free(directory)
  if (room >= needed) return
  throw new Error(
    `the disk of ${directory} has ${megabytes(room)} left, and ${megabytes(needed)} are needed: ` +
      'make room, or choose another disk',
  )
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`
}

async function onDisk(directory: string, name: string): Promise<BackupFile> {
  const file = join(directory, name)
  const opened = await open(file, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
  return { name, bytes: (await stat(file)).size, sha256: await sha256Of(file) }
}
