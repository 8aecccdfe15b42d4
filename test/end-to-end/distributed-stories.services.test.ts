import { startDistributedDeployment } from '../deployments.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { deploymentStories } from './stories.ts'

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
