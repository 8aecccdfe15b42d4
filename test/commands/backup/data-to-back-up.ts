import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { backUp } from '../../../commands/backup/backup.ts'
import { LOG_FILE, openData } from '../../../commands/open.ts'
import { restore } from '../../../commands/restore/restore.ts'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { copySqliteStore } from '../../../store/sqlite/copy-store.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { batchOf } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported, T0 } from '../../samples.ts'

const clock = { now: () => T0 }

/** Turns a log into a different one, with other events at the same offsets. */
export const OTHER_EVENTS = `DROP TRIGGER events_are_never_changed;
  UPDATE events SET value = CAST(replace(CAST(value AS TEXT), '01KDVN', '01ZZZZ') AS BLOB)`

/** For each test: data in use, and folders for backups and restored data. */
export function dataToBackUpForEachTest() {
  const directory = directoryForEachTest()
  const path = (name: string) => join(directory(), name)
  const here = {} as { eventLog: EventLog; store: Store }
  let reported = 0

  beforeEach(async () => {
    reported = 0
    mkdirSync(path('data'))
    here.eventLog = openSqliteEventLog({ file: join(path('data'), LOG_FILE), clock })
    here.store = openSqliteStore({ directory: path('data') })
    await here.store.beginFacts({ 0: 0 })
  })

  afterEach(async () => {
    await here.store.close()
    await here.eventLog.close()
  })

  /** Reports that are in the log, and in the read models too if `projected`. */
  async function report(count: number, { projected = false } = {}): Promise<PositionReported[]> {
    const events = Array.from({ length: count }, () => positionReported())
    await here.eventLog.append(events)
    for (const event of events) {
      reported += 1
      const origin = { partition: 0, offset: reported }
      if (projected) await here.store.project(batchOf({ kind: 'position', origin, event }))
    }
    return events
  }

  type Options = Partial<Parameters<typeof backUp>[0]>
  const shown: string[] = []
  const show = (step: string) => void shown.push(step)

  return Object.assign(here, {
    path,
    shown,
    report,
    backUp: (options: Options = {}) =>
      backUp({
        from: path('data'),
        to: path('backup'),
        logFile: LOG_FILE,
        clock,
        show,
        copyStore: copySqliteStore,
        openData,
        ...options,
      }),
    restore: (options: Partial<Parameters<typeof restore>[0]> = {}) =>
      restore({ from: path('backup'), to: path('restored'), openData, show, ...options }),
    /** Changes a file without the service's knowledge. */
    damage(file: string, sql: string) {
      const database = new DatabaseSync(path(file))
      database.exec(sql)
      database.close()
    },
  })
}

/** The names in a folder, and the content of each file; undefined if there is no such folder. */
export function contentsOf(folder: string): Record<string, string> | undefined {
  try {
    const names = readdirSync(folder)
    return Object.fromEntries(
      names.sort().map((name) => [name, readFileSync(join(folder, name), 'base64')]),
    )
  } catch {
    return undefined
  }
}
