import { join, resolve } from 'node:path'
import { startAdminApi } from '../admin-api/service.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { startIngestApi } from '../ingest-api/service.ts'
import { startProjector } from '../projector/service.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { runProgram } from '../runtime/program.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { holdDataDirectory } from './data-directory.ts'
import { welcome } from './welcome.ts'

/** The three services in one process, on SQLite files in the data directory. */
await runProgram('gps', async (program) => {
  const { config, logger, lifecycle } = program
  if (config.distributed !== undefined) {
    throw new Error(
      'this program works on its own files and uses no KAFKA_BROKERS and MONGODB_URL: unset them',
    )
  }

  const directory = resolve(config.dataDir)
  const held = holdDataDirectory(directory)
  lifecycle.onClose('data directory', async () => held.release())
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock, logger })
  lifecycle.onClose('event log', () => eventLog.close())
  const store = openSqliteStore({ directory })
  lifecycle.onClose('store', () => store.close())

  startProjector({ eventLog, store }, program)
  const ingestUrl = await startIngestApi({ eventLog, store }, program)
  const { url: adminUrl, generated } = await startAdminApi(
    { store, eventLog, mode: 'embedded' },
    program,
  )
  if (generated !== undefined) {
    process.stdout.write(welcome({ secrets: generated, ingestUrl, adminUrl }))
  }
})
