import { decodePositionReported } from '../../schemas/events/position-reported.ts'
import { plainKafka, readTopic } from '../event-log/kafka/harness.ts'
import { eventually } from '../eventually.ts'
import type { Services } from '../services/describe-with.ts'
import { startPrograms } from './distributed-service.ts'
import type { Acknowledged } from './load.ts'

const TOPIC = 'gps.position-reported'
const OFFSETS = '__consumer_offsets'

export type ClusterService = Awaited<ReturnType<typeof startClusterService>>

/**
 * The five programs on three dedicated brokers (replication 3, min.insync 2) and a MongoDB.
 * Functions that end them are added to `closers`, even if the start fails halfway.
 */
export async function startClusterService(
  { ownKafkaCluster, ownMongodb }: Pick<Services, 'ownKafkaCluster' | 'ownMongodb'>,
  closers: (() => Promise<unknown>)[],
) {
  const mongodb = await ownMongodb()
  closers.push(() => mongodb.kill())
  const cluster = await ownKafkaCluster()
  closers.push(() => cluster.kill())
  const programs = await startPrograms({ brokers: cluster.brokers, mongodb })
  closers.push(() => programs.close())
  const admin = plainKafka(cluster.brokers).admin({ retry: { retries: 10 } })
  closers.push(() => admin.disconnect())
  await admin.connect()

  async function partitionsOf(topic: string) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0]?.partitions ?? []
  }

  return {
    ...programs,
    broker: (node: number) => cluster.nodes[node - 1]!,

    /** Resolves when every partition has all its replicas in sync. */
    async inSync(): Promise<void> {
      await eventually(
        async () => {
          const partitions = [...(await partitionsOf(TOPIC)), ...(await partitionsOf(OFFSETS))]
          return partitions.every(({ isr, replicas }) => isr.length === replicas.length)
        },
        { withinMs: 60_000, everyMs: 200 },
      )
    },

    /** The reports now in the topic, each once even if it has several copies. */
    async reportsInTopic(): Promise<Acknowledged[]> {
      const offsets = await admin.fetchTopicOffsets(TOPIC)
      const held = offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0)
      const messages = await readTopic(cluster.brokers, TOPIC, held)
      const reports = messages.map(({ value }) => {
        const event = decodePositionReported(String(value))
        return { ...event, timestamp: new Date(event.timestamp).toISOString() }
      })
      return [...new Map(reports.map((report) => [report.recordId, report])).values()]
    },
  }
}
