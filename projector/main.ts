import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed } from '../runtime/config/config.ts'
import { runProgram } from '../runtime/process/program.ts'
import { serveHealth } from '../runtime/http/serve-health.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { startProjector } from './service.ts'

/** The projector as a separate process on Kafka and MongoDB; several share the partitions. */
await runProgram('gps-projector', async (program) => {
  const { config, logger, metrics, lifecycle } = program
  const { kafka, mongodbUrl: url } = requireDistributed(config)
  const eventLog = openKafkaEventLog({
    ...kafka,
    clientId: 'gps-projector',
    clock,
    logger,
    onReaderRenewed: () => metrics.logReadersRenewed.inc(),
    onFatal: (error) => lifecycle.fail(error, 'event log failed'),
  })
  lifecycle.onClose('event log', () => eventLog.close())
  const store = await openMongoStore({
    url,
    clock,
    logger,
    retention: { wanted: config.retention },
  })
  lifecycle.onClose('store', () => store.close())
  const projector = startProjector({ eventLog, store, topic: eventLog.facts }, program)
  const { projectorPort: port } = config
  if (port !== undefined) {
    const dependencies = [eventLog, store, projector]
    await serveHealth(
      { name: 'projector', port, variable: 'PROJECTOR_PORT', dependencies },
      program,
    )
  }
})
