import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { feedsContract } from '../../contracts/feeds-contract.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const folder = directoryForEachTest()

feedsContract(async () => {
  const directory = mkdtempSync(join(folder(), 'logs-'))
  const clock = { now: () => T0 }
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory, clock })
  return {
    eventLog,
    factLog: store.factLog,
    store,
    async close() {
      await store.close()
      await eventLog.close()
    },
  }
})
