/** What one report costs, measured by the bench. */
export type Costs = {
  /** CPU microseconds: the whole embedded process, the ingest API on Kafka, the projector. */
  readonly embedded: number
  readonly ingest: number
  readonly projector: number
  /** Bytes of its event in the topic, and of its document in MongoDB. */
  readonly eventBytes: number
  readonly documentBytes: number
}

/** What cannot be measured on one machine. */
export type Assumptions = {
  /** Between two reports of a device. */
  readonly intervalSeconds: number
  /** The share of a core that is used: the rest is for peaks, and for an instance that is away. */
  readonly load: number
  readonly coresPerMachine: number
  readonly replicas: number
  readonly retentionDays: number
  /** Bytes a broker takes a second, copies included. */
  readonly brokerBytesPerSecond: number
  /** Reports a shard takes a second: a new document and the device's status each. */
  readonly shardReportsPerSecond: number
  readonly corePerMonth: number
  readonly gigabytePerMonth: number
}

export const ASSUMPTIONS: Assumptions = {
  intervalSeconds: 10,
  load: 0.5,
  coresPerMachine: 4,
  replicas: 3,
  retentionDays: 30,
  brokerBytesPerSecond: 40e6,
  shardReportsPerSecond: 10_000,
  corePerMonth: 25,
  gigabytePerMonth: 0.1,
}

export type Capacity = {
  readonly devices: number
  readonly reportsPerSecond: number
  /** Cores of the embedded process, which has two threads; undefined: more than it can have. */
  readonly embeddedCores: number | undefined
  readonly ingestCores: number
  readonly ingestMachines: number
  readonly projectorCores: number
  readonly projectors: number
  readonly partitions: number
  readonly brokers: number
  readonly shards: number
  /** One copy, uncompressed. */
  readonly logBytesPerDay: number
  readonly storeBytesPerDay: number
  /** All copies, over the retention. */
  readonly storedBytes: number
  readonly costPerMonth: number
}

/** Kafka's topic is made with so many. */
const FEWEST_PARTITIONS = 12
/** An embedded process beyond that has no reserve: its projection is one thread. */
const MOST_EMBEDDED_CORES = 1
/** A projector is one thread, and takes turns with its partitions. */
const PARTITIONS_PER_PROJECTOR = 2

/** What so many devices need. */
export function capacity(devices: number, costs: Costs, given: Assumptions): Capacity {
  const reportsPerSecond = devices / given.intervalSeconds
  const cores = (micros: number) => (reportsPerSecond * micros) / 1e6 / given.load
  const embeddedCores = cores(costs.embedded)
  const [ingestCores, projectorCores] = [cores(costs.ingest), cores(costs.projector)]
  // Two of each: one may be away.
  const ingestMachines = Math.max(2, Math.ceil(ingestCores / given.coresPerMachine))
  const projectors = Math.max(2, Math.ceil(projectorCores))
  const logBytesPerDay = reportsPerSecond * costs.eventBytes * 86_400
  const storeBytesPerDay = reportsPerSecond * costs.documentBytes * 86_400
  const written = reportsPerSecond * costs.eventBytes * given.replicas
  const brokers = Math.max(given.replicas, Math.ceil(written / given.brokerBytesPerSecond))
  const shards = Math.max(1, Math.ceil(reportsPerSecond / given.shardReportsPerSecond))
  const storedBytes = (logBytesPerDay + storeBytesPerDay) * given.retentionDays * given.replicas
  const machines =
    ingestMachines +
    Math.ceil(projectors / given.coresPerMachine) +
    brokers +
    shards * given.replicas
  return {
    devices,
    reportsPerSecond,
    embeddedCores: embeddedCores > MOST_EMBEDDED_CORES ? undefined : embeddedCores,
    ingestCores,
    ingestMachines,
    projectorCores,
    projectors,
    partitions: Math.max(FEWEST_PARTITIONS, projectors * PARTITIONS_PER_PROJECTOR),
    brokers,
    shards,
    logBytesPerDay,
    storeBytesPerDay,
    storedBytes,
    costPerMonth:
      machines * given.coresPerMachine * given.corePerMonth +
      (storedBytes / 1e9) * given.gigabytePerMonth,
  }
}
