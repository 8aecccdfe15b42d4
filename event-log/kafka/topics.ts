import { setTimeout as pause } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { REJECTIONS } from '../topic.ts'
import type { Logger } from './kafka-client.ts'
import { allPartitions } from './kafkajs/patch.ts'
import { askPartitions } from './partitions.ts'

export type TopicOptions = {
  readonly topicPrefix: string
  /** Without it, the brokers' default applies. */
  readonly replicationFactor?: number
  /** Minimum retention of events; default: forever. */
  readonly retentionMs?: number
}

// Node detects a CommonJS module's named exports by static analysis, which misses this one.
const { ConfigResourceTypes } = kafkajs

const PARTITIONS = 12
const REJECTION_PARTITIONS = 3
const MIN_INSYNC = 'min.insync.replicas'
const LEADER_TRIES = 50
const LEADER_PAUSE_MS = 100
const DAY_MS = 24 * 60 * 60 * 1000
/** Any entry must fit, including the headers with its origin. */
const DEAD_LETTER_MAX_BYTES = 16 * 1024 * 1024

export function topicNames(topicPrefix: string) {
  return {
    positions: `${topicPrefix}.position-reported`,
    deadLetters: `${topicPrefix}.dead-letter`,
    rejections: `${topicPrefix}.report-rejected`,
    facts: `${topicPrefix}.device-events`,
  }
}

/** The schema registry's subjects for the events in the topic of positions. */
export function subjectNames(topicPrefix: string) {
  return {
    positions: `${topicNames(topicPrefix).positions}-value`,
    heartbeats: `${topicPrefix}.device-seen-value`,
  }
}

/**
 * Creates missing topics. Warns about weaker settings of existing ones, and about single replicas.
 */
export async function ensureTopics(
  admin: Admin,
  { topicPrefix, replicationFactor, retentionMs = -1 }: TopicOptions,
  logger: Logger,
): Promise<void> {
  const names = topicNames(topicPrefix)
  const replicas = replicationFactor ?? (await defaultReplicationFactor(admin))
  const durable = {
    'cleanup.policy': 'delete',
    'segment.ms': String(DAY_MS),
    [MIN_INSYNC]: String(Math.max(1, replicas - 1)),
    'unclean.leader.election.enable': 'false',
    'message.timestamp.type': 'CreateTime',
  }
  const wanted: Wanted[] = [
    {
      topic: names.positions,
      partitions: PARTITIONS,
      settings: { ...durable, 'retention.ms': String(retentionMs) },
    },
    {
      topic: names.facts,
      partitions: PARTITIONS,
      settings: { ...durable, 'retention.ms': String(retentionMs) },
    },
    {
      topic: names.deadLetters,
      partitions: 1,
      settings: {
        ...durable,
        'retention.ms': '-1',
        'max.message.bytes': String(DEAD_LETTER_MAX_BYTES),
      },
    },
    {
      topic: names.rejections,
      partitions: REJECTION_PARTITIONS,
      settings: { ...durable, 'retention.ms': String(REJECTIONS.keptMs) },
    },
  ]
  const existing = new Set(await admin.listTopics())
  const missing = wanted.filter(({ topic }) => !existing.has(topic))
  if (missing.length > 0) {
    // Another process may have created them first, which is fine.
    await admin.createTopics({
      waitForLeaders: false,
      topics: missing.map(({ topic, partitions, settings }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
      })),
    })
    await waitForLeaders(
      admin,
      missing.map(({ topic }) => topic),
    )
  }
  for (const topic of wanted.filter(({ topic }) => existing.has(topic))) {
    const weaker = await weakSettings(admin, topic)
    if (weaker.length > 0) {
      logger.warn({ topic: topic.topic, weaker }, 'topic settings are weaker than recommended')
    }
  }
  await warnOfSingleReplicas(
    admin,
    wanted.map(({ topic }) => topic),
    logger,
  )
}

/** The number of replicas of each topic that must be in sync for a write. */
export async function askMinInSync(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const inSync = new Map<string, number>()
  for (const topic of topics) {
    const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
    const { [MIN_INSYNC]: setting } = await settingsOf(admin, resource, [MIN_INSYNC])
    inSync.set(topic, Number(setting ?? 1))
  }
  return inSync
}

/** Right after creating a topic, a broker may not yet know it or the leaders of its partitions. */
async function waitForLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  for (let tries = 0; tries < LEADER_TRIES; tries += 1) {
    if (await haveLeaders(admin, topics)) return
    await pause(LEADER_PAUSE_MS)
  }
}

async function haveLeaders(admin: Admin, topics: readonly string[]): Promise<boolean> {
  try {
    const found = [...(await askPartitions(admin, topics)).values()].flat()
    return found.every(({ leader }) => leader !== undefined)
  } catch (error) {
    if ((error as { type?: string }).type === 'UNKNOWN_TOPIC_OR_PARTITION') return false
    throw error
  }
}

async function warnOfSingleReplicas(
  admin: Admin,
  topics: readonly string[],
  logger: Logger,
): Promise<void> {
  const { brokers } = await admin.describeCluster()
  if (brokers.length === 1) return
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] })
  for (const { name: topic, partitions } of found) {
    const single = allPartitions(partitions).filter(({ replicas }) => replicas.length === 1)
    if (single.length === 0) continue
    logger.warn(
      { topic, partitions: single.length, brokers: brokers.length },
      'topic has a replication factor of 1: while a broker is down, its partitions are unavailable',
    )
  }
}

type Wanted = {
  readonly topic: string
  readonly partitions: number
  readonly settings: Readonly<Record<string, string>>
}

async function defaultReplicationFactor(admin: Admin): Promise<number> {
  const { brokers } = await admin.describeCluster()
  const setting = 'default.replication.factor'
  const { [setting]: value } = await settingsOf(
    admin,
    { type: ConfigResourceTypes.BROKER, name: String(brokers[0]?.nodeId) },
    [setting],
  )
  return Number(value ?? 1)
}

async function weakSettings(admin: Admin, { topic, partitions, settings }: Wanted) {
  const found = await settingsOf(
    admin,
    { type: ConfigResourceTypes.TOPIC, name: topic },
    Object.keys(settings),
  )
  const weaker = Object.entries(settings)
    .filter(([name, wanted]) => isWeaker(name, found[name], wanted))
    .map(([name, wanted]) => `${name} is ${found[name]}, should be ${wanted}`)
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const there = allPartitions(topics[0]?.partitions ?? []).length
  if (there < partitions) weaker.push(`it has ${there} partitions, should have ${partitions}`)
  return weaker
}

function isWeaker(name: string, actual: string | undefined, wanted: string): boolean {
  if (actual === undefined) return false
  switch (name) {
    case 'segment.ms':
      return Number(actual) > Number(wanted)
    case 'retention.ms':
      return Number(actual) >= 0 && (Number(wanted) < 0 || Number(actual) < Number(wanted))
    case MIN_INSYNC:
    case 'max.message.bytes':
      return Number(actual) < Number(wanted)
    default:
      return actual !== wanted
  }
}

async function settingsOf(
  admin: Admin,
  resource: { type: Parameters<Admin['describeConfigs']>[0]['resources'][0]['type']; name: string },
  configNames: string[],
): Promise<Record<string, string | undefined>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ ...resource, configNames }],
  })
  return Object.fromEntries(
    (resources[0]?.configEntries ?? []).map(({ configName, configValue }) => [
      configName,
      configValue,
    ]),
  )
}
