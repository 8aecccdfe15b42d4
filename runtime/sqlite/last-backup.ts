import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'last-backup.json'

/** Notes in a data directory when the newest backup of it began. `at`: milliseconds since epoch. */
export async function noteBackup(directory: string, at: number): Promise<void> {
  const file = join(directory, FILE)
  await writeFile(`${file}.new`, JSON.stringify({ at }), { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** When the newest backup of a data directory began; undefined if none was noted. */
export async function lastBackupAt(directory: string): Promise<number | undefined> {
  try {
    const { at } = JSON.parse(await readFile(join(directory, FILE), 'utf8')) as { at?: unknown }
    return typeof at === 'number' && Number.isFinite(at) ? at : undefined
  } catch {
    return undefined
  }
}
