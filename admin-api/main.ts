import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed } from '../runtime/config.ts'
import { runProgram } from '../runtime/program.ts'
import { openMongoStore } from '../store/mongo-store.ts'
import { startAdminApi } from './service.ts'

/** The admin API as a process of its own, on MongoDB; any number of them. */
await runProgram('gps-admin-api', async (program) => {
  const { config, logger, lifecycle } = program
  const { mongodbUrl: url } = requireDistributed(config)
  const { retentionDays } = config
  const store = await openMongoStore({ url, retentionDays, clock, logger })
  lifecycle.onClose('store', () => store.close())
  await startAdminApi({ store, makeUpSecrets: false }, program)
})
