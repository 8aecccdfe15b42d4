import { expect, test } from '@jest/globals'
import { topicWriter } from '../../../event-log/kafka/topic-writer.ts'
import { silent } from './harness.ts'

test('an event of a partition with too few replicas in sync is rejected before anything is sent', async () => {
  const writer = topicWriter<string>({
    newClient() {
      throw new Error('nothing may be sent')
    },
    topic: 'positions',
    partitions: () => [{ leader: 1, inSync: 1 }],
    minInSync: () => 2,
    whenReady: Promise.resolve(),
    sizeOf: (text) => text.length,
    toMessage: (text) => ({ key: text, value: text }),
    logger: silent,
    now: () => 0,
  })
  await expect(writer.write(['tracker-1'])).rejects.toMatchObject({
    message: 'partition 0 has too few replicas in sync',
    retriable: true,
  })
  await writer.close()
})
