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

const withoutKey = Partitioners.DefaultPartitioner()

/**
 * The partition that every Kafka client chooses for a key by default (murmur2). Without a key any
 * with a leader.
 */
export function partitionOf(key: string | Buffer | null, partitions: readonly Partition[]): number {
  if (key !== null) return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions.length
  const partitionMetadata = partitions.map(({ leader = -1 }, partitionId) => ({
    ...{ partitionId, leader, partitionErrorCode: 0 },
    ...{ replicas: [], isr: [], offlineReplicas: [] },
  }))
  return withoutKey({ topic: '', partitionMetadata, message: { key, value: null } })
}

const SEED = 0x9747b28c
const FACTOR = 0x5bd1e995

/** As in Kafka's `Utils.murmur2`; that of kafkajs takes 50 times as long. */
function murmur2(bytes: Buffer): number {
  const whole = bytes.length - (bytes.length % 4)
  let hash = SEED ^ bytes.length
  for (let at = 0; at < whole; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), FACTOR)
    hash = Math.imul(hash, FACTOR) ^ Math.imul(word ^ (word >>> 24), FACTOR)
  }
  if (whole < bytes.length) {
    const rest = bytes.readUIntLE(whole, bytes.length - whole)
    hash = Math.imul(hash ^ rest, FACTOR)
  }
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR)
  return hash ^ (hash >>> 15)
}
