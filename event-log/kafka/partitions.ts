import { Partitioners, type Admin } from 'kafkajs'
import { allPartitions } from './missing-leaders.ts'

export type Partition = {
  /** The broker that leads it, if any. */
  readonly leader: number | undefined
  readonly inSync: number
}

/** The known partitions of topics, by topic and number. */
export type Partitions = ReadonlyMap<string, readonly Partition[]>

export async function askPartitions(admin: Admin, topics: readonly string[]): Promise<Partitions> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] })
  return new Map(
    found.map(({ name, partitions }) => [
      name,
      allPartitions(partitions).map(({ leader, isr }) => ({
        leader: leader >= 0 ? leader : undefined,
        inSync: isr.length,
      })),
    ]),
  )
}

const byKey = Partitioners.DefaultPartitioner()

/** The partition that every Kafka client chooses for a key by default (murmur2). */
export function partitionOf(key: string | Buffer | null, partitions: readonly Partition[]): number {
  const partitionMetadata = partitions.map(({ leader = -1 }, partitionId) => ({
    ...{ partitionId, leader, partitionErrorCode: 0 },
    ...{ replicas: [], isr: [], offlineReplicas: [] },
  }))
  return byKey({ topic: '', partitionMetadata, message: { key, value: null } })
}
