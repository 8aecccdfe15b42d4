import { afterAll } from '@jest/globals'
import { startDistributedDeployment } from '../deployments.ts'
import { startProgram } from '../programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { rebuildStories } from './rebuild-stories.ts'

await describeWith(['kafka', 'mongodb'], 'npm run rebuild of the three services', (services) => {
  const ends: (() => Promise<unknown>)[] = []

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  const start = async () => {
    const { brokers, topicPrefix } = services.kafka
    const mongodbUrl = urlOfDatabase(services.mongodb.url, services.mongodb.database)
    const running = await startDistributedDeployment({ brokers, topicPrefix, mongodbUrl })
    ends.push(() => running.remove())
    const env = {
      KAFKA_BROKERS: brokers.join(','),
      KAFKA_TOPIC_PREFIX: topicPrefix,
      MONGODB_URL: mongodbUrl,
    }
    const rebuild = (...args: string[]) => startProgram('commands/rebuild/main', { args, env })
    return { ...running, rebuild }
  }

  rebuildStories(start, { concurrency: 2 })
})
