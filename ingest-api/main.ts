import type { EventLog } from '../event-log/event-log.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { openSpool } from '../event-log/spool/spool.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed, type Config } from '../runtime/config/config.ts'
import type { Logger } from '../runtime/process/logger.ts'
import { privateDirectory } from '../runtime/sqlite/data-directory.ts'
import { runProgram } from '../runtime/process/program.ts'
import { openMongoRateCounters } from '../store/mongo/rate-counters.ts'
import { mongoOutage } from '../store/mongo/mongo-client.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { startIngestApi } from './service.ts'

/** The ingest API as a separate process on Kafka and MongoDB; any number of instances may run. */
await runProgram('gps-ingest-api', async (program) => {
  const { config, logger, lifecycle } = program
  const { kafka, mongodbUrl: url } = requireDistributed(config)
  const kafkaLog = openKafkaEventLog({
    ...kafka,
    clientId: 'gps-ingest-api',
    clock,
    logger,
    onFatal: (error) => lifecycle.fail(error, 'event log failed'),
  })
  const spool = config.spool && openSpoolBefore(kafkaLog, config.spool, logger)
  const eventLog = spool ?? kafkaLog
  lifecycle.onClose('event log', () => eventLog.close())
  const outage = mongoOutage(logger)
  const store = await openMongoStore({ url, clock, logger, outage })
  lifecycle.onClose('store', () => store.close())
  const counters =
    config.rateLimits.store === 'mongodb'
      ? openMongoRateCounters({ url, logger, outage })
      : undefined
  lifecycle.onClose('rate counters', async () => counters?.close())
  const openCounters = counters?.open
  await startIngestApi({ eventLog, spool, store, openCounters }, program)
})

function openSpoolBefore(
  eventLog: EventLog,
  { directory, ...limits }: NonNullable<Config['spool']>,
  logger: Logger,
): ReturnType<typeof openSpool> {
  privateDirectory(directory, { variable: 'SPOOL_DIR', logger })
  return openSpool({ directory, ...limits, eventLog, clock, logger })
}
