import type { PartitionMetadata } from 'kafkajs'

type MetadataAnswer = {
  readonly topicMetadata: { topicErrorCode: number; partitionMetadata: PartitionMetadata[] }[]
}
type AnswerReader = { parse: (answer: MetadataAnswer) => Promise<MetadataAnswer> }

/** The versions of the response that kafkajs reads. */
const VERSIONS = [0, 1, 2, 3, 4, 5, 6]
/** LEADER_NOT_AVAILABLE and LISTENER_NOT_FOUND of Kafka's protocol: there is no leader now. */
const NO_LEADER = new Set([5, 72])

const leaderless = new WeakMap<readonly PartitionMetadata[], readonly PartitionMetadata[]>()
/**
 * Makes kafkajs continue with a topic's other partitions while one has no leader. Otherwise it
 * rejects the whole metadata response, and a client that refreshes it cannot use any partition.
 * Partitions without a leader are removed from the response.
 */
export function tolerateMissingLeaders(load: NodeJS.Require): void {
  for (const version of VERSIONS) {
    const reader = load(
      `kafkajs/src/protocol/requests/metadata/v${version}/response`,
    ) as AnswerReader
    const { parse } = reader
    reader.parse = (answer) => {
      answer.topicMetadata.forEach(setAside)
      return parse(answer)
    }
  }
}

/** All partitions of a topic by number, including those without a leader. */
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
