import { backOff, repeatPeriodically } from '../../runtime/process/repeat.ts'
import { DEVICE_SEEN_AVRO, POSITION_REPORTED_AVRO } from '../../schemas/events/avro-schemas.ts'
import { DependencyError, reasonOf } from '../../runtime/errors.ts'
import { Outage } from '../../runtime/process/outage.ts'
import type { AdminClient } from './admin.ts'
import { openAvroFormat } from './avro-format.ts'
import { unavailableError, type Logger } from './kafka-client.ts'
import type { AvroFormats } from './event-format.ts'
import { askPartitions, type Partition, type Partitions } from './partitions.ts'
import {
  askMinInSync,
  ensureTopics,
  subjectNames,
  topicNames,
  type TopicOptions,
} from './topics.ts'

export type PreparedTopics = {
  /** Resolves when topics and registry are ready; rejects only when the log is closed before. */
  readonly whenReady: Promise<void>
  /** @throws {DependencyError} immediately, naming the missing part. */
  require(): void
  /** Resolves with false when `signal` is aborted before all is ready. */
  readyBefore(signal: AbortSignal): Promise<boolean>
  /** The last known partitions; empty until all topics are ready. */
  partitions(topic: string): readonly Partition[]
  /** The number of replicas that must be in sync for a write. */
  minInSync(topic: string): number
  /** Undefined if no registry is configured. */
  avro(): AvroFormats | undefined
  /** Resolves when no more requests are sent. */
  readonly ended: Promise<void>
}

/** How long Kafka may take to report its partitions. */
export const PARTITIONS_KNOWN_WITHIN_MS = 3000
const LOOK_AT_PARTITIONS_EVERY_MS = 1000
/** An operator may lower `min.insync.replicas` during an outage. */
const LOOK_AT_MIN_INSYNC_EVERY_MS = 5000

/**
 * Creates missing topics and schemas, retrying until `signal` is aborted, and then follows the
 * partitions' leaders, their replicas, and the number of replicas that a write needs.
 */
export function prepareTopics({
  admin,
  registry,
  clientId,
  signal,
  logger,
  outage,
  ...options
}: TopicOptions & {
  admin: AdminClient
  registry: { readonly url: string } | undefined
  clientId: string
  signal: AbortSignal
  logger: Logger
  outage?: Outage | undefined
}): PreparedTopics {
  const names = topicNames(options.topicPrefix)
  let missing: string | undefined = 'Kafka has not been reached yet'
  let minInSync: ReadonlyMap<string, number> = new Map()
  let partitions: Partitions = new Map()
  let avro: AvroFormats | undefined
  const registryOutage = new Outage({
    dependency: 'the schema registry',
    variable: 'SCHEMA_REGISTRY_URL',
    logger,
  })
  const whenReady = prepare()
  // Callers that await it receive the failure, which only closing causes.
  whenReady.catch(() => undefined)

  return {
    whenReady,
    readyBefore,
    partitions: (topic) => partitions.get(topic) ?? [],
    minInSync: (topic) => minInSync.get(topic) ?? 1,
    avro: () => avro,
    ended: watch(),

    require() {
      if (signal.aborted) throw unavailableError('the event log is closed')
      if (missing === undefined) return
      const failure = unavailableError(missing)
      throw outage?.mark(failure) ?? failure
    },
  }

  async function prepare(): Promise<void> {
    const pauses = backOff({ firstMs: 200, longestMs: 2000 })
    while (!signal.aborted) {
      try {
        await admin.ask('prepare its topics', (client) => ensureTopics(client, options, logger))
        await lookAtMinInSync()
        await lookAtPartitions()
        if (registry !== undefined) {
          try {
            avro = await openAvroFormats(registry)
            registryOutage.answered()
          } catch (error) {
            if (!signal.aborted) registryOutage.failed(error)
            throw registryOutage.mark(error)
          }
        }
        missing = undefined
        return
      } catch (error) {
        if (signal.aborted) break
        missing = reasonOf(error)
        // The registry client logs its own failures.
        if (!(error instanceof DependencyError && error.outage === registryOutage)) {
          logger.warn({ err: error }, 'event log not ready yet; retrying')
        }
      }
      await pauses.pause(signal)
    }
    throw unavailableError('the event log is closed')
  }

  async function openAvroFormats({ url }: { readonly url: string }): Promise<AvroFormats> {
    const { positions, heartbeats } = subjectNames(options.topicPrefix)
    const own = { url, clientId }
    return {
      positions: await openAvroFormat({
        ...own,
        subject: positions,
        schema: POSITION_REPORTED_AVRO,
      }),
      heartbeats: await openAvroFormat({ ...own, subject: heartbeats, schema: DEVICE_SEEN_AVRO }),
    }
  }

  /**
   * Leaders move, partitions are added, settings change; in the meantime the last known state is
   * used.
   */
  async function watch(): Promise<void> {
    if (!(await readyBefore(signal))) return
    await Promise.all([
      repeatPeriodically({
        what: 'looking at the partitions',
        everyMs: LOOK_AT_PARTITIONS_EVERY_MS,
        task: lookAtPartitions,
        signal,
        logger,
      }),
      repeatPeriodically({
        what: 'looking at min.insync.replicas',
        everyMs: LOOK_AT_MIN_INSYNC_EVERY_MS,
        task: lookAtMinInSync,
        signal,
        logger,
      }),
    ])
  }

  async function lookAtPartitions(): Promise<void> {
    partitions = await admin.ask(
      'read its partitions',
      (client) => askPartitions(client, Object.values(names)),
      PARTITIONS_KNOWN_WITHIN_MS,
    )
  }

  async function lookAtMinInSync(): Promise<void> {
    minInSync = await admin.ask('read its settings', (client) =>
      askMinInSync(client, Object.values(names)),
    )
  }

  async function readyBefore(ending: AbortSignal): Promise<boolean> {
    const ended = new Promise<void>((resolve) => {
      ending.addEventListener('abort', () => resolve(), { once: true })
    })
    if (!ending.aborted) await Promise.race([whenReady.catch(() => undefined), ended])
    return !ending.aborted
  }
}
