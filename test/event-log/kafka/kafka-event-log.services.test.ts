import { eventLogContract } from '../../contracts/event-log-contract.ts'
import { describeWith } from '../../services/describe-with.ts'
import { openKafka } from './harness.ts'

await describeWith(['kafka'], 'Kafka with JSON', ({ kafka }) => {
  eventLogContract('Kafka with JSON', async ({ clock, logger }) => {
    return openKafka({ brokers: kafka.brokers, topicPrefix: kafka.topicPrefix, clock, logger })
  })
})
