import { expect, test } from '@jest/globals'
import { mongoOutage, startPreparing } from '../../../store/mongo/mongo-client.ts'
import { silent } from './database.ts'

test('a store whose preparation failed reports that it is not ready, and why', async () => {
  const prepare = () => Promise.reject(new Error('the disk is full'))
  const outage = mongoOutage(silent)
  const preparation = await startPreparing(prepare, { logger: silent, outage })
  expect(() => preparation.current()).toThrow('the store is not ready: the disk is full')
  await preparation.stop()
})
