import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { T0 } from '../samples.ts'

export type LogAndStore = {
  readonly directory: string
  readonly eventLog: EventLog
  readonly store: Store
}

/** Opens a log and a store in a new folder before each test. */
export function logAndStoreForEachTest(
  use: (opened: LogAndStore) => void,
  clock = { now: () => T0 },
): void {
  const folder = directoryForEachTest()
  let opened: LogAndStore

  beforeEach(() => {
    const directory = folder()
    const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
    opened = { directory, eventLog, store: openSqliteStore({ directory, clock }) }
    use(opened)
  })

  afterEach(async () => {
    await opened.store.close()
    await opened.eventLog.close()
  })
}
