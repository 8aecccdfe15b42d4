import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { POSITION_REPORTED } from '../../../schemas/position-reported.ts'
import { deadLettersContract } from '../../contracts/dead-letters-contract.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { T0 } from '../../samples.ts'

deadLettersContract('SQLite', async () => {
  const { path, remove } = await temporaryDirectory()
  const file = join(path, 'log.sqlite')
  const log = openSqliteEventLog({ file, clock: { now: () => T0 } })
  return {
    log,
    async putRaw(value, key) {
      const database = new DatabaseSync(file)
      database
        .prepare('INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)')
        .run(key, POSITION_REPORTED, 'raw', T0, value)
      database.close()
    },
    async close() {
      await log.close()
      await remove()
    },
  }
})
