import { startDistributedDeployment } from '../deployments.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { backOfficeStories } from './back-office-stories.ts'

await describeWith(['kafka', 'mongodb'], 'three services', ({ kafka, mongodb }) => {
  backOfficeStories(
    'three services on Kafka and MongoDB',
    () =>
      startDistributedDeployment({
        ...kafka,
        mongodbUrl: urlOfDatabase(mongodb.url, mongodb.database),
      }),
    { inForceWithinMs: 5_500 },
  )
})
