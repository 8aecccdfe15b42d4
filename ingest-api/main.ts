import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed } from '../runtime/config/config.ts'
import { runProgram } from '../runtime/program.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { startIngestApi } from './service.ts'

/** The ingest API as a separate process on Kafka and MongoDB; any number of instances may run. */
await runProgram('gps-ingest-api', async (program) => {
  const { config, logger, lifecycle } = program
  const { kafka, mongodbUrl: url } = requireDistributed(config)
  const eventLog = openKafkaEventLog({
    ...kafka,
    clientId: 'gps-ingest-api',
    clock,
    logger,
    onFatal: (error) => lifecycle.fail(error, 'the event log cannot go on'),
  })
  lifecycle.onClose('event log', () => eventLog.close())
  const store = await openMongoStore({ url, clock, logger })
  lifecycle.onClose('store', () => store.close())
  await startIngestApi({ eventLog, store }, program)
})
