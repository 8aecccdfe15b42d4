/** @node all */
import { startEmbeddedDeployment } from '../deployments.ts'
import { deploymentStories } from './stories.ts'

deploymentStories('one process on SQLite', startEmbeddedDeployment)
