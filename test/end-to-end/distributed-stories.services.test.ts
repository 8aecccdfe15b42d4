import { startDistributedDeployment } from '../deployments.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { deploymentStories } from './stories.ts'

await describeWith(
  ['kafka', 'mongodb'],
  'three services with JSON events',
  ({ kafka, mongodb }) => {
    deploymentStories('three services on Kafka and MongoDB', () =>
      startDistributedDeployment({
        ...kafka,
        mongodbUrl: urlOfDatabase(mongodb.url, mongodb.database),
      }),
    )
  },
)

await describeWith(
  ['kafka', 'mongodb', 'schemaRegistry'],
  'three services with Avro events',
  ({ kafka, mongodb, schemaRegistry }) => {
    deploymentStories('three services with a schema registry', () =>
      startDistributedDeployment({
        ...kafka,
        mongodbUrl: urlOfDatabase(mongodb.url, mongodb.database),
        registryUrl: schemaRegistry.url,
      }),
    )
  },
)
