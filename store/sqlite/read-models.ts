import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { AppliedEvents, Offsets, Origin } from '../../schemas/devices/read-models.ts'
import type { FoldVersion, Generation, OriginBounds } from '../generations.ts'
import { WentBackError } from '../projection-batch.ts'
import type { Change, ProjectionBatch, ReadModels } from '../read-models.ts'
import { Database, type DatabaseOptions } from '../../runtime/sqlite/database.ts'
import { ERASURES_KEPT_LONGER_MS } from '../retention.ts'
import { sqliteDeviceStatuses, type DeviceName, type DeviceStatuses } from './device-statuses.ts'
import { sqliteErasures, type AppliedErasures } from './erasures.ts'
import { projectEntries } from './projection.ts'
import { sqliteNearRecords, type NearRecords } from './near-records.ts'
import { READ_MODELS_SCHEMA } from './read-models-schema.ts'
import { rememberDevices } from './remembered-devices.ts'
import type { RecordReads } from './record-reads.ts'
import { sqliteRecords, type RecordPlace, type Records } from './records.ts'

/** A generation of the read models, in its own file. */
export type SqliteReadModels = Pick<ReadModels, RecordReads> &
  NearRecords & {
    readonly statuses: Pick<DeviceStatuses, 'find' | 'page' | 'select'>
    readonly erasures: Pick<AppliedErasures, 'isApplied' | 'appliedUpTo' | 'begunUpTo' | 'times'>
    readonly countPositions: Records['count']
    readonly timeAfter: Records['timeAfter']
    /** The accounts that have a device. */
    accounts(): string[]
    scanRecords: Generation['scanRecords']
    origins(receivedSince: number): Map<number, OriginBounds>
    recordOrigins: Generation['recordOrigins']
    checkpoint(): Offsets
    lastApplied(): AppliedEvents
    foldVersion(): FoldVersion | undefined
    /** May take many turns when it erases devices. */
    project: Generation['project']
    /** `forget` is called with the devices whose statuses are about to be removed. */
    expire(
      receivedBefore: number,
      options: {
        seenBefore: number
        forget: (devices: readonly DeviceName[]) => void
        signal?: AbortSignal
      },
    ): Promise<void>
    close(): void
  }

const DEVICES_REMOVED_AT_ONCE = 200

const ENDINGS = ['', '-wal', '-shm']

/** Remedies for damaged read models, which can be rebuilt from the log. */
const REMEDIES = {
  remedy: 'remove this file, and it is rebuilt from the log',
  ifDamaged: 'remove this file, and it is rebuilt from the log',
}

/**
 * Checks the files of all generations without changing them.
 * @throws {DependencyError} that says why this program cannot use a file, and what to do.
 */
export function checkReadModels(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!/^read-models-\d+\.sqlite$/.test(name)) continue
    Database.check(join(directory, name), READ_MODELS_SCHEMA, REMEDIES)
  }
}

/** Removes the files of all other generations; processes that have one open can still read it. */
export function removeReadModelsExcept(directory: string, kept: readonly number[]): void {
  const stays = new Set(
    kept.flatMap((generation) => ENDINGS.map((ending) => readModelsFile(generation) + ending)),
  )
  for (const name of readdirSync(directory)) {
    if (!/^read-models-\d+\.sqlite(-wal|-shm)?$/.test(name) || stays.has(name)) continue
    rmSync(join(directory, name), { force: true })
  }
}

export type OpenOptions = {
  /**
   * The file with the devices' settings, for searching by settings; opened read-only in that case.
   */
  readonly settingsFile?: string
  readonly onMigration?: DatabaseOptions['onMigration']
}

/** Opens generation N of the read models, creating it if missing. */
export function openReadModels(
  directory: string,
  generation: number,
  { settingsFile, onMigration }: OpenOptions = {},
): SqliteReadModels {
  // Data lost in a power failure is projected again.
  const database = new Database(join(directory, readModelsFile(generation)), READ_MODELS_SCHEMA, {
    synchronous: 'NORMAL',
    onMigration,
    ...REMEDIES,
  })
  // Each device's events change the same pages over and over. A larger cache and fewer checkpoints
  // of the write-ahead log than by default reduce reads and writes of these pages.
  database.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000')
  // A write transaction would lock the attached file too.
  if (settingsFile !== undefined) attach(database, settingsFile)
  const records = sqliteRecords(database)
  const near = sqliteNearRecords(database)
  const statuses = sqliteDeviceStatuses(database)
  const erasures = sqliteErasures(database)
  const devices = rememberDevices(database, { statuses, erasures })
  const checkpoints = database.prepare<{ log_partition: number; last_offset: number }>(
    'SELECT log_partition, last_offset FROM checkpoints',
  )
  const moveCheckpoint = database.prepare(
    `INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?) ON CONFLICT (log_partition) DO UPDATE SET
       last_offset = excluded.last_offset,
       event_offset = coalesce(excluded.event_offset, event_offset),
       event_id = coalesce(excluded.event_id, event_id),
       fold_version = CASE WHEN fold_version = excluded.fold_version THEN fold_version END`,
  )
  const lastApplied = database.prepare<{ part: number; offset: number; id: string }>(
    `SELECT log_partition AS part, event_offset AS offset, event_id AS id FROM checkpoints
     WHERE event_id IS NOT NULL`,
  )

  const foldVersions = database.prepare<{ version: number | null }>(
    'SELECT DISTINCT fold_version AS version FROM checkpoints',
  )

  function checkpoint(): Offsets {
    return Object.fromEntries(checkpoints.all().map((row) => [row.log_partition, row.last_offset]))
  }

  /**
   * Removes erased histories in small transactions before the batch's own transaction, which blocks
   * other work. Their records must be removed even if the batch fails, and their devices are marked
   * as erased first.
   */
  async function removeErasedHistories({ entries }: ProjectionBatch): Promise<void> {
    for (const entry of entries) {
      if (entry.kind !== 'erasure' || erasures.isApplied(entry.event.eventId)) continue
      const number = statuses.find(entry.event)?.number
      if (number === undefined) continue
      devices.begin(entry)
      do await endOfTurn()
      while (records.removeErased(entry, number))
    }
  }

  function projectNow(batch: ProjectionBatch): readonly Change[] {
    return database.transaction(() => {
      devices.refresh()
      const done = checkpoint()[batch.partition] ?? -1
      if (batch.lastOffset <= done) return []
      const entries = batch.entries.filter(({ origin }) => origin.offset > done)
      const changes = projectEntries({ entries, fold: batch.fold }, { records, devices, erasures })
      const last = batch.entries.at(-1)
      const event = last && [last.origin.offset, eventIdOf(last.event)]
      const { partition, lastOffset, foldVersion } = batch
      moveCheckpoint.run(partition, lastOffset, ...(event ?? [null, null]), foldVersion)
      return changes
    })
  }

  return {
    statuses,
    erasures,
    findPosition: records.findPosition,
    findLastPositions: records.findLastPositions,
    readNear: (query) => near.readNear(query),
    pagePositions: records.pagePositions,
    pageTrack: records.pageTrack,
    findTrackPoints: records.findTrackPoints,
    countPositions: (device, from, to) => records.count(device, from, to),
    timeAfter: (device, range) => records.timeAfter(device, range),
    checkpoint,
    lastApplied: () =>
      Object.fromEntries(lastApplied.all().map(({ part, offset, id }) => [part, { offset, id }])),
    foldVersion() {
      const [first, ...others] = foldVersions.all()
      return first && (others.length === 0 ? (first.version ?? 'mixed') : 'mixed')
    },
    origins: (receivedSince) => records.origins(receivedSince),

    async recordOrigins(names) {
      const found = new Map<string, Origin>()
      for (const { accountId, recordId } of names) {
        const origin = records.originOf(accountId, recordId)
        if (origin !== undefined) found.set(`${accountId}/${recordId}`, origin)
      }
      return found
    },

    accounts() {
      const accountIds: string[] = []
      // Account ids are never empty.
      let last = statuses.accountAfter('')
      for (; last !== undefined; last = statuses.accountAfter(last)) accountIds.push(last)
      return accountIds
    },

    async *scanRecords({ accountId, after = '', upTo }) {
      // Sorts after every record of the device `after`.
      let place: RecordPlace = {
        deviceId: after,
        timestamp: Infinity,
        origin: { partition: 0, offset: 0 },
      }
      for (;;) {
        const chunk = records.next(accountId, place, upTo)
        const last = chunk.at(-1)
        if (last === undefined) return
        yield chunk
        await endOfTurn()
        place = last
      }
    },

    async project(batch) {
      const { partition, after = -1 } = batch
      const done = checkpoint()[partition] ?? -1
      if (done < after) throw new WentBackError(partition, { from: after, to: done })
      await removeErasedHistories(batch)
      try {
        return projectNow(batch)
      } catch (error) {
        devices.forget()
        throw error
      }
    },

    async expire(receivedBefore, { seenBefore, forget, signal }) {
      const ended = () => signal?.aborted === true
      while (!ended() && records.removeSome(receivedBefore)) await endOfTurn()
      const silent = statuses.silentSince(seenBefore)
      for (let start = 0; start < silent.length && !ended(); start += DEVICES_REMOVED_AT_ONCE) {
        const some = silent.slice(start, start + DEVICES_REMOVED_AT_ONCE)
        database.transaction(() => {
          forget(some.filter((device) => statuses.removeIfSilentSince(device, seenBefore)))
        })
        devices.forget()
        await endOfTurn()
      }
      if (!ended()) erasures.remove(seenBefore - ERASURES_KEPT_LONGER_MS)
      devices.forget()
    },

    close: () => database.close(),
  }
}

function attach(database: Database, settingsFile: string): void {
  try {
    database.prepare('ATTACH DATABASE ? AS accounts').run(settingsFile)
  } catch (error) {
    database.close()
    throw error
  }
}

export function readModelsFile(generation: number): string {
  return `read-models-${generation}.sqlite`
}
