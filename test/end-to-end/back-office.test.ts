import { expect, test } from '@jest/globals'
import { signIn, startEmbeddedDeployment, submitTo } from '../deployments.ts'
import { backOfficeStories } from './back-office-stories.ts'

backOfficeStories('everything in one process', startEmbeddedDeployment)

test('a new key can be tested while others behind the same address send unknown keys', async () => {
  const service = await startEmbeddedDeployment({ RATE_LIMIT_AUTH: '3/60' })
  const report = { deviceId: 'tug-1', latitude: 54.3, longitude: 10.1 }
  const statuses: number[] = []
  for (let n = 0; n < 4; n += 1)
    statuses.push((await submitTo(service.ingestUrl, 'unknown', report)).status)
  expect(statuses).toEqual([401, 401, 401, 429])
  const admin = await signIn(service.adminUrl)
  const { key } = await admin.createKey()
  const answer = await admin.call<{ status: number }>('POST', '/test-report', { key, report })
  expect(answer.status).toBe(200)
  await service.remove()
})
