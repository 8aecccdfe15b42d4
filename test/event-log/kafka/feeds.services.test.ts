import { randomBytes } from 'node:crypto'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { T0 } from '../../samples.ts'
import { feedsContract } from '../../contracts/feeds-contract.ts'
import { describeWith } from '../../services/describe-with.ts'
import { testDatabase } from '../../store/mongo/database.ts'
import { logOptions, whenReady } from './harness.ts'

await describeWith(['kafka', 'mongodb'], 'feeds on Kafka and MongoDB', ({ kafka, mongodb }) => {
  feedsContract(async () => {
    const topicPrefix = `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
    const clock = { now: () => T0 }
    const eventLog = openKafkaEventLog(logOptions({ ...kafka, topicPrefix, clock }))
    const database = testDatabase(mongodb)
    const store = await database.open()
    await whenReady(eventLog)
    return {
      eventLog,
      factLog: eventLog.facts,
      topic: eventLog.facts,
      store,
      async close() {
        await eventLog.close()
        await database.drop()
      },
    }
  })
})
