import { createRequire } from 'node:module'
import type { PartitionMetadata } from 'kafkajs'

type MetadataAnswer = {
  readonly topicMetadata: { topicErrorCode: number; partitionMetadata: PartitionMetadata[] }[]
}
type AnswerReader = { parse: (answer: MetadataAnswer) => Promise<MetadataAnswer> }

/** The versions of the answer that kafkajs reads. */
const VERSIONS = [0, 1, 2, 3, 4, 5, 6]
/** LEADER_NOT_AVAILABLE and LISTENER_NOT_FOUND of Kafka's protocol: nobody leads the partition now. */
const NO_LEADER = new Set([5, 72])

const leaderless = new WeakMap<readonly PartitionMetadata[], readonly PartitionMetadata[]>()
let taught = false

/**
 * Teaches kafkajs to go on with a topic's other partitions while one has no leader. It takes the
 * whole metadata answer for a failure then: no client that asks anew can write to, read from or ask
 * about any partition. The ones without a leader are left out of what it sees.
 */
export function tolerateMissingLeaders(): void {
  if (taught) return
  taught = true
  const require = createRequire(import.meta.url)
  for (const version of VERSIONS) {
    const reader = require(
      `kafkajs/src/protocol/requests/metadata/v${version}/response`,
    ) as AnswerReader
    const { parse } = reader
    reader.parse = (answer) => {
      answer.topicMetadata.forEach(setAside)
      return parse(answer)
    }
  }
}

/** Every partition of a topic in the order of their numbers, those without a leader included. */
export function allPartitions(found: readonly PartitionMetadata[]): PartitionMetadata[] {
  return [...found, ...(leaderless.get(found) ?? [])].sort((a, b) => a.partitionId - b.partitionId)
}

function setAside(topic: MetadataAnswer['topicMetadata'][number]): void {
  const without = topic.partitionMetadata.filter(isLeaderless)
  if (without.length === 0) return
  topic.partitionMetadata = topic.partitionMetadata.filter((one) => !isLeaderless(one))
  leaderless.set(topic.partitionMetadata, without)
}

function isLeaderless({ partitionErrorCode }: PartitionMetadata): boolean {
  return NO_LEADER.has(partitionErrorCode)
}
