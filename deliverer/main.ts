import { openFeeds } from '../event-log/reading/open-feeds.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { requireDistributed } from '../runtime/config/config.ts'
import { runProgram } from '../runtime/process/program.ts'
import { sealedSecrets } from '../runtime/process/sealed-secrets.ts'
import { serveHealth } from '../runtime/http/serve-health.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { DELIVERER_FEEDS, startDeliverer } from './service.ts'
import { lookUpsInTurns } from './turns.ts'

/** The deliverer as a separate process on Kafka and MongoDB; several share the subscriptions. */
await runProgram('gps-deliverer', async (program) => {
  const { config, logger, metrics, lifecycle } = program
  const { kafka, mongodbUrl: url } = requireDistributed(config)
  const { secretsKey, delivererPort: port } = config
  const eventLog = openKafkaEventLog({
    ...kafka,
    clientId: 'gps-deliverer',
    clock,
    logger,
    onReaderRenewed: () => metrics.logReadersRenewed.inc(),
    onFatal: (error) => lifecycle.fail(error, 'event log failed'),
  })
  lifecycle.onClose('event log', () => eventLog.close())
  const store = lookUpsInTurns(await openMongoStore({ url, clock, logger }))
  lifecycle.onClose('store', () => store.close())
  const { stopping } = lifecycle
  const { facts: factLog } = eventLog
  const options = DELIVERER_FEEDS
  const feeds = openFeeds({ eventLog, factLog, store, logger, stopping, options })
  if (secretsKey === undefined) logger.warn('SECRETS_KEY is not set: nothing is delivered')
  else startDeliverer({ feeds, store, secrets: sealedSecrets(secretsKey) }, program)
  if (port !== undefined) {
    const dependencies = [eventLog, store, { ready: () => hasKey(secretsKey) }]
    await serveHealth(
      { name: 'deliverer', port, variable: 'DELIVERER_PORT', dependencies },
      program,
    )
  }
})

async function hasKey(key: Uint8Array | undefined): Promise<void> {
  if (key === undefined) throw new Error('SECRETS_KEY is not set')
}
