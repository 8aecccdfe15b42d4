import { Partitioners, type Admin } from 'kafkajs'
import { allPartitions } from './kafkajs/patch.ts'

export type Partition = {
  /** The partition's leading broker, if any. */
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
 * The partition that every Kafka client chooses for a key by default (murmur2). Without a key, any
 * partition with a leader.
 */
export function partitionOf(key: string | Buffer | null, partitions: readonly Partition[]): number {
  if (key !== null) return (hashOf(key) & 0x7fffffff) % partitions.length
  const partitionMetadata = partitions.map(({ leader = -1 }, partitionId) => ({
    partitionId,
    leader,
    partitionErrorCode: 0,
    replicas: [],
    isr: [],
    offlineReplicas: [],
  }))
  return withoutKey({ topic: '', partitionMetadata, message: { key, value: null } })
}

const SHORT = 256
const shortKey = Buffer.alloc(SHORT)

/** Allocates no buffer if the key is a short ASCII text, as most keys are. */
function hashOf(key: string | Buffer): number {
  if (typeof key !== 'string') return murmur2(key, key.length)
  let at = 0
  for (; at < key.length && at < SHORT; at += 1) {
    const code = key.charCodeAt(at)
    if (code > 127) break
    shortKey[at] = code
  }
  if (at === key.length) return murmur2(shortKey, at)
  const bytes = Buffer.from(key)
  return murmur2(bytes, bytes.length)
}

const SEED = 0x9747b28c
const FACTOR = 0x5bd1e995

/**
 * Hashes the first `length` bytes as Kafka's `Utils.murmur2` does; kafkajs's own takes 50 times as
 * long.
 */
function murmur2(bytes: Buffer, length: number): number {
  const whole = length - (length % 4)
  let hash = SEED ^ length
  for (let at = 0; at < whole; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), FACTOR)
    hash = Math.imul(hash, FACTOR) ^ Math.imul(word ^ (word >>> 24), FACTOR)
  }
  if (whole < length) {
    const rest = bytes.readUIntLE(whole, length - whole)
    hash = Math.imul(hash ^ rest, FACTOR)
  }
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR)
  return hash ^ (hash >>> 15)
}
