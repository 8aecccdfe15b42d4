import { createRequire } from 'node:module'
import { describe, expect, test } from '@jest/globals'
import type { Kafka, ProducerBatch, RecordMetadata } from 'kafkajs'
import { EncodedRecord } from '../../../event-log/kafka/kafkajs/encoded-record.ts'
import { batchProducer } from '../../../event-log/kafka/producer.ts'
import { silent } from './harness.ts'

const groupMessagesPerPartition = createRequire(import.meta.url)(
  'kafkajs/src/producer/groupMessagesPerPartition',
) as (options: object) => Record<string, unknown[]>

const MESSAGES = [
  new EncodedRecord({ key: 'a', value: 'a' }, 0),
  new EncodedRecord({ key: 'b', value: 'b' }, 3),
]

describe('producers of batches', () => {
  test('a producer passes each message’s partition to kafkajs, and counts only responses for these', async () => {
    // As after partitions were added: a producer that chose again would get a full response.
    const { producer, sent } = standIn(() => answersFor(0, 1, 2))
    await expect(producer.send(MESSAGES)).rejects.toThrow('no response for partition 3')
    expect(sent.map(({ topicMessages }) => topicMessages)).toEqual([
      [{ topic: 'positions', messages: MESSAGES }],
    ])
  })

  test('a producer’s messages are grouped as kafkajs would group them itself', async () => {
    const { producer, sent } = standIn(() => answersFor(0, 1, 2))
    const records = Array.from(
      { length: 50 },
      (_, n) => new EncodedRecord({ key: `k${n}`, value: `v${n}` }, (n * n) % 3),
    )
    await producer.send(records)
    const { topic, messages } = sent[0]!.topicMessages![0]!
    const options = {
      topic,
      partitionMetadata: [{}],
      messages,
      partitioner: ({ message }: { message: EncodedRecord }) => message.partition,
    }
    expect(messages).toEqual(records)
    expect(groupMessagesPerPartition(options)).toEqual(
      groupMessagesPerPartition({ ...options, messages: records }),
    )
  })

  test('a producer is replaced after a batch fails or hangs', async () => {
    const outcomes = [
      () => Promise.reject(new Error('lost')),
      () => new Promise<never>(() => undefined),
      () => answersFor(0, 3),
      () => answersFor(0, 3),
    ]
    const { producer, clients } = standIn(() => outcomes.shift()!())
    await expect(producer.send(MESSAGES)).rejects.toMatchObject({ retriable: true })
    expect(clients).toEqual(['cut'])
    await expect(producer.send(MESSAGES)).rejects.toThrow('not confirmed within 50 ms')
    expect(clients).toEqual(['cut', 'cut'])
    await producer.send(MESSAGES)
    await producer.send(MESSAGES)
    expect(clients).toEqual(['cut', 'cut', 'in use'])
    await producer.close()
    expect(clients).toEqual(['cut', 'cut', 'cut'])
  })

  /** A producer over a stand-in that gives the desired responses; records the fate of each client. */
  function standIn(answer: () => Promise<RecordMetadata[]>) {
    const clients: string[] = []
    const sent: ProducerBatch[] = []
    const producer = batchProducer({
      topic: 'positions',
      logger: silent,
      givenUpAfterMs: 50,
      newClient() {
        const at = clients.push('in use') - 1
        const kafka = {
          producer: () => ({
            connect: () => Promise.resolve(),
            disconnect: () => Promise.resolve(),
            sendBatch(batch: ProducerBatch) {
              sent.push(batch)
              return answer()
            },
          }),
        }
        return {
          kafka: kafka as unknown as Kafka,
          abandon: () => undefined,
          cut: () => (clients[at] = 'cut'),
        }
      },
    })
    return { producer, clients, sent }
  }
})

function answersFor(...partitions: number[]): Promise<RecordMetadata[]> {
  return Promise.resolve(
    partitions.map((partition) => ({ topicName: 'positions', partition, errorCode: 0 })),
  )
}
