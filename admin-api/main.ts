import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed } from '../runtime/config/config.ts'
import { runProgram } from '../runtime/process/program.ts'
import { sealedSecrets } from '../runtime/process/sealed-secrets.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { startAdminApi } from './service.ts'

/** The admin API as a separate process, on Kafka and MongoDB; any number can run. */
await runProgram('gps-admin-api', async (program) => {
  const { config, logger, lifecycle } = program
  const { kafka, mongodbUrl: url } = requireDistributed(config)
  const eventLog = openKafkaEventLog({
    ...kafka,
    clientId: 'gps-admin-api',
    clock,
    logger,
    onFatal: (error) => lifecycle.fail(error, 'event log failed'),
  })
  lifecycle.onClose('event log', () => eventLog.close())
  const store = await openMongoStore({ url, clock, logger })
  lifecycle.onClose('store', () => store.close())
  const secrets = config.secretsKey && sealedSecrets(config.secretsKey)
  const mode = 'distributed'
  await startAdminApi({ store, eventLog, factLog: eventLog.facts, secrets, mode }, program)
})
