import { createRequire } from 'node:module'
import kafkajs, { type PartitionMetadata } from 'kafkajs'
import { decompress as unzstd } from 'fzstd'
import { decompressFrame } from 'lz4-napi'
import { uncompress as unsnappy } from 'snappy'
import { encodeInOnePass } from './produce-request.ts'

let isPatched = false

/**
 * Replaces three parts of kafkajs and adds codecs, once per process. The replacements reach into
 * its files, so its version is pinned exactly.
 */
export function patchKafkajs(): void {
  if (isPatched) return
  isPatched = true
  const load = createRequire(import.meta.url)
  tolerateMissingLeaders(load)
  restWhenIdle(load)
  encodeInOnePass(load)
  registerCodecs()
}

type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests: (this: RequestQueue) => void
}

/**
 * Makes kafkajs check its waiting requests only while there are any. Otherwise each of its
 * connections wakes the process a thousand times a second forever, even when idle.
 */
function restWhenIdle(load: NodeJS.Require): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as {
    prototype: RequestQueue
  }
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this)
  }
}

type MetadataAnswer = {
  readonly topicMetadata: { topicErrorCode: number; partitionMetadata: PartitionMetadata[] }[]
}
type AnswerReader = { parse: (answer: MetadataAnswer) => Promise<MetadataAnswer> }

/** The response versions that kafkajs reads. */
const VERSIONS = [0, 1, 2, 3, 4, 5, 6]
/**
 * LEADER_NOT_AVAILABLE and LISTENER_NOT_FOUND in Kafka's protocol: there is no leader at present.
 */
const NO_LEADER = new Set([5, 72])

const leaderless = new WeakMap<readonly PartitionMetadata[], readonly PartitionMetadata[]>()
/**
 * Makes kafkajs continue with a topic's other partitions while one has no leader. Otherwise it
 * rejects the whole metadata response, and a client that refreshes it cannot use any partition.
 * Partitions without a leader are removed from the response.
 */
function tolerateMissingLeaders(load: NodeJS.Require): void {
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

// Node detects a CommonJS module's named exports by static analysis, which misses these.
const { CompressionCodecs, CompressionTypes } = kafkajs

/** The stream format of snappy-java: magic, two version numbers, then length-prefixed chunks. */
const SNAPPY_JAVA_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const SNAPPY_JAVA_HEADER_BYTES = 16

/**
 * Adds the codecs that other producers, or the topic's `compression.type`, may use: kafkajs has
 * only gzip, and its consumer crashes on a batch it cannot decompress. We compress nothing.
 */
function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => ({ compress: refuse, decompress: readSnappy })
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: refuse,
    decompress: (bytes: Buffer) => decompressFrame(bytes),
  })
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: refuse,
    decompress: async (bytes: Buffer) => Buffer.from(unzstd(bytes)),
  })
}

async function readSnappy(bytes: Buffer): Promise<Buffer> {
  if (!bytes.subarray(0, SNAPPY_JAVA_MAGIC.length).equals(SNAPPY_JAVA_MAGIC)) {
    return toBuffer(await unsnappy(bytes))
  }
  const chunks: Buffer[] = []
  for (let at = SNAPPY_JAVA_HEADER_BYTES; at < bytes.length;) {
    const start = at + 4
    at = start + bytes.readUInt32BE(at)
    chunks.push(toBuffer(await unsnappy(bytes.subarray(start, at))))
  }
  return Buffer.concat(chunks)
}

function toBuffer(content: string | Buffer): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : content
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('this program only reads compressed batches'))
}
