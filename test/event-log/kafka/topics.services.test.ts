import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { ConfigResourceTypes, type Admin } from 'kafkajs'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { ensureTopics } from '../../../event-log/kafka/topics.ts'
import { describeWith } from '../../services/describe-with.ts'
import { createTopic, logOptions, plainKafka, silent, whenReady } from './harness.ts'

const DAY_MS = 24 * 60 * 60 * 1000

await describeWith(['kafka'], 'the topics in Kafka', ({ kafka }) => {
  const { brokers } = kafka

  test('topics are created as the contract says, and existing ones give no warning', async () => {
    const topicPrefix = aPrefix()
    await openOnce(topicPrefix, { retentionMs: 30 * DAY_MS })
    expect(await settings(`${topicPrefix}.position-reported`)).toMatchObject({
      partitions: 12,
      'cleanup.policy': 'delete',
      'retention.ms': String(30 * DAY_MS),
      'segment.ms': String(DAY_MS),
      'min.insync.replicas': '1',
      'unclean.leader.election.enable': 'false',
    })
    expect(await settings(`${topicPrefix}.device-events`)).toEqual(
      await settings(`${topicPrefix}.position-reported`),
    )
    expect(await settings(`${topicPrefix}.dead-letter`)).toMatchObject({
      'max.message.bytes': String(16 * 1024 * 1024),
      'retention.ms': '-1',
    })
    expect(await settings(`${topicPrefix}.report-rejected`)).toMatchObject({
      partitions: 3,
      'cleanup.policy': 'delete',
      'retention.ms': String(7 * DAY_MS),
    })
    expect(await openOnce(topicPrefix, { retentionMs: 30 * DAY_MS })).toEqual([])
  })

  test('topics keep events forever unless a retention is set', async () => {
    const topicPrefix = aPrefix()
    await openOnce(topicPrefix)
    expect(await settings(`${topicPrefix}.position-reported`)).toMatchObject({
      'retention.ms': '-1',
    })
  })

  test('topics with weaker settings give one warning that names them', async () => {
    const topicPrefix = aPrefix()
    const topic = `${topicPrefix}.position-reported`
    await createTopic(brokers, {
      topic,
      numPartitions: 3,
      configEntries: [
        { name: 'retention.ms', value: String(7 * DAY_MS) },
        { name: 'cleanup.policy', value: 'compact' },
        { name: 'segment.ms', value: String(7 * DAY_MS) },
      ],
    })
    expect(await openOnce(topicPrefix)).toEqual([
      {
        topic,
        weaker: [
          'cleanup.policy is compact, should be delete',
          `segment.ms is ${7 * DAY_MS}, should be ${DAY_MS}`,
          `retention.ms is ${7 * DAY_MS}, should be -1`,
          'it has 3 partitions, should have 12',
        ],
      },
    ])
  })

  test('opening waits for topics that their broker does not know right after creation', async () => {
    const topicPrefix = aPrefix()
    const admin = plainKafka(brokers).admin()
    await admin.connect()
    let asked = 0
    const late: Admin = {
      ...admin,
      fetchTopicMetadata(request) {
        asked += 1
        return admin.fetchTopicMetadata(asked <= 2 ? { topics: ['not-there-yet'] } : request)
      },
    }
    await ensureTopics(late, { topicPrefix }, silent)
    expect(asked).toBe(3)
    await admin.disconnect()
  })

  test('topics are created once when many processes open the log at the same time', async () => {
    const topicPrefix = aPrefix()
    const logs = Array.from({ length: 5 }, () =>
      openKafkaEventLog(logOptions({ brokers, topicPrefix })),
    )
    await Promise.all(logs.map((log) => whenReady(log)))
    await Promise.all(logs.map((log) => log.close()))
    expect(await settings(`${topicPrefix}.position-reported`)).toMatchObject({ partitions: 12 })
  })

  /** Opens the log, waits until it is ready, closes it; gives the warnings about topics. */
  async function openOnce(topicPrefix: string, options: { retentionMs?: number } = {}) {
    const warnings: object[] = []
    const log = openKafkaEventLog(
      logOptions({
        ...options,
        brokers,
        topicPrefix,
        logger: {
          ...silent,
          warn(fields, message) {
            if (message.startsWith('topic settings')) warnings.push(fields)
          },
        },
      }),
    )
    await whenReady(log)
    await log.close()
    return warnings
  }

  async function settings(topic: string): Promise<Record<string, unknown>> {
    const admin = plainKafka(brokers).admin()
    await admin.connect()
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
    })
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    await admin.disconnect()
    return {
      partitions: topics[0]?.partitions.length,
      ...Object.fromEntries(
        (resources[0]?.configEntries ?? []).map((entry) => [entry.configName, entry.configValue]),
      ),
    }
  }

  function aPrefix(): string {
    return `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
  }
})
