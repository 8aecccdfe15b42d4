import { backup, DatabaseSync } from '@photostructure/sqlite'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { translateErrors, translation } from '../../runtime/sqlite/sqlite-errors.ts'
import type { EventLog } from '../../event-log/event-log.ts'
import { findOtherLogReason } from '../../projector/same-log.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { Store } from '../../store/store.ts'
import type { OpenData } from '../open.ts'

const PAGES_AT_ONCE = 1_000
const BUSY_TIMEOUT_MS = 5_000

/**
 * Copies a database, in its state when the copy starts, to a file that does not exist yet, while
 * other processes write the database. `onProgress` gets the completed fraction, from 0 to 1.
 * @throws {DependencyError} also when the disk is full.
 */
export async function copyDatabase(
  from: string,
  to: string,
  onProgress: (part: number) => void,
): Promise<void> {
  const opening = { readOnly: true, timeout: BUSY_TIMEOUT_MS }
  const source = translateErrors(from, () => new DatabaseSync(from, opening))
  try {
    // A single snapshot for the whole copy; otherwise the copy would restart after every write.
    translateErrors(from, () => source.exec('BEGIN; SELECT 1 FROM sqlite_schema'))
    const progress = (pages: { totalPages: number; remainingPages: number }) =>
      onProgress(1 - pages.remainingPages / Math.max(1, pages.totalPages))
    await backup(source, to, { rate: PAGES_AT_ONCE, progress })
    onProgress(1)
  } catch (error) {
    throw translation(`copying ${from} to ${to}`, error)
  } finally {
    source.close()
  }
}

/**
 * Reads a whole database and compares its tables with their indexes.
 * @throws {DependencyError | Error} when it is damaged.
 */
export function checkDatabase(file: string): void {
  const database = translateErrors(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }))
  try {
    const check = database.prepare('PRAGMA integrity_check(1)')
    const result = translateErrors(file, () => check.get() as { integrity_check: string })
    if (result.integrity_check !== 'ok') {
      throw new Error(`${file} is damaged: ${result.integrity_check}`)
    }
  } finally {
    database.close()
  }
}

/**
 * Checks that the files of a copy are intact, of this version, and belong together: the log has the
 * events from which the read models were built.
 * @throws {Error} that says what is wrong.
 */
export async function checkCopy(
  directory: string,
  openData: OpenData,
): Promise<{ readonly events: number; readonly projected: number }> {
  for (const name of await readdir(directory)) {
    if (name.endsWith('.sqlite')) checkDatabase(join(directory, name))
  }
  const { eventLog, store, countEvents } = openData(directory)
  let counts
  try {
    counts = await compare(eventLog, store)
    const stored = countEvents()
    if (stored !== counts.events) {
      throw new Error(`the log has ${stored} events, but its extent says ${counts.events}`)
    }
  } finally {
    await store.close()
    await eventLog.close()
  }
  await removeJournals(directory)
  return counts
}

async function compare(eventLog: EventLog, store: Store) {
  const generation = await store.openGeneration(await store.currentGeneration())
  try {
    const reason = await findOtherLogReason(eventLog, await generation.lastApplied())
    if (reason !== undefined) throw new Error(`log and store do not belong together: ${reason}`)
    return extentOf(await eventLog.extent(), await generation.checkpoint())
  } finally {
    await generation.close()
  }
}

function extentOf(extents: Awaited<ReturnType<EventLog['extent']>>, checkpoint: Offsets = {}) {
  let [events, projected] = [0, 0]
  for (const { partition, first, next } of extents) {
    events += next - first
    projected += Math.max(0, Math.min(next, (checkpoint[partition] ?? -1) + 1) - first)
  }
  return { events, projected }
}

/**
 * Removes the journals that the driver may leave behind. They are empty, because a copy is only
 * read.
 * @throws {Error} when one is not empty.
 */
async function removeJournals(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/-(wal|shm)$/.test(name)) continue
    const file = join(directory, name)
    const { size = 0 } = (await stat(file).catch(() => undefined)) ?? {}
    if (name.endsWith('-wal') && size > 0) throw new Error(`${file} is not empty`)
    await rm(file, { force: true })
  }
}
