import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../runtime/clock.ts'
import { VERSION } from '../../runtime/process/instance.ts'
import { dataBytes, freeBytes, noteBackup } from '../../runtime/sqlite/data-directory.ts'
import type { OpenData } from '../open.ts'
import { checkCopy, copyDatabase } from './copy-database.ts'
import { claimFolder, writeManifest, type BackupFile, type Manifest } from './manifest.ts'
import { newFolder } from './new-folder.ts'

/** Reports progress. */
export type Show = (step: string) => void

/**
 * Copies the data in `from`, which may be in use, to `to`, and checks the copy. On failure `to` is
 * left unchanged.
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
  /**
   * Copies the files of the store, with `copy`, in an order that keeps them consistent; returns
   * their names.
   */
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
    // The log is copied last, so it has everything that the copied store has.
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
  // The backup is complete, whether or not the service records it.
  await noteBackup(from, begunAt).catch(() =>
    show(`${from} cannot be written: the backup is not recorded there`),
  )
  return manifest
}

/** @throws {Error} when a folder's disk has no room for the copy. */
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

/** Bytes between two calls of `onBytes`. */
const AT_ONCE = 1 << 20

/** The hash of a file. */
async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: AT_ONCE })) {
    hash.update(chunk as Buffer)
  }
  return hash.digest('hex')
}

/**
 * Copies a file to a new one, which is on disk when this resolves. Returns the hash of the copied
 * bytes.
 */
export async function copyFile(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256')
  const target = await open(to, 'wx', 0o600)
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: AT_ONCE })) {
      hash.update(chunk as Buffer)
      await target.writeFile(chunk as Buffer)
      onBytes((chunk as Buffer).length)
    }
    await target.sync()
  } finally {
    await target.close()
  }
  return hash.digest('hex')
}
