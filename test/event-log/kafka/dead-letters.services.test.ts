import { randomBytes } from 'node:crypto'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { deadLettersContract } from '../../contracts/dead-letters-contract.ts'
import { eventually } from '../../eventually.ts'
import { describeWith } from '../../services/describe-with.ts'
import { logOptions, putRaw, whenReady } from './harness.ts'

await describeWith(['kafka'], 'Kafka', ({ kafka: { brokers, topicPrefix } }) => {
  deadLettersContract('Kafka', async () => {
    const prefix = `${topicPrefix}.${randomBytes(4).toString('hex')}`
    const log = openKafkaEventLog(logOptions({ brokers, topicPrefix: prefix }))
    await whenReady(log)
    await eventually(() => Promise.all([log.extent(), log.deadLetters()]), { withinMs: 30_000 })
    return {
      log,
      putRaw: (value, key) =>
        putRaw(brokers, `${prefix}.position-reported`, {
          key,
          value: value === null ? null : Buffer.from(value),
          headers: { ce_type: 'PositionReported.v1' },
        }),
      close: () => log.close(),
    }
  })
})
