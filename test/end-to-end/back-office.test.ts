import { startEmbeddedDeployment } from '../deployments.ts'
import { backOfficeStories } from './back-office-stories.ts'

backOfficeStories('everything in one process', startEmbeddedDeployment)
