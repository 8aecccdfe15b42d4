import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { RateLimiterMongo } from 'rate-limiter-flexible'
import type { Outage } from '../../runtime/process/outage.ts'
import { repeatUntilSuccess } from '../../runtime/process/repeat.ts'
import {
  memoryRateCounters,
  type OpenRateCounters,
  type RateCounters,
} from '../../runtime/limits/rate-counters.ts'
import { databaseOf, openClient, mongoOutage, awaitAnswer } from './mongo-client.ts'

const COLLECTION = 'rate_counters'
/** A server that has not responded after this time counts as unavailable. */
const ANSWER_MS = 500
const CLOSED_WITHIN_MS = 1_000

export type SharedRateCounters = {
  readonly open: OpenRateCounters
  /** Whether the counters are currently shared, not in memory. */
  readonly shared: () => boolean
  close(): Promise<void>
}

/**
 * Rate counters in MongoDB that all instances share. While the server does not respond, each
 * instance counts in its own memory and retries in the background: no call rejects, and only the
 * calls that discover the outage wait, for half a second.
 */
export function openMongoRateCounters({
  url,
  logger: ownLogger,
  outage = mongoOutage(ownLogger),
  answerMs = ANSWER_MS,
}: {
  url: string
  logger: Logger
  /** The outages of the server, if other clients of the process use it too. */
  outage?: Outage
  answerMs?: number
}): SharedRateCounters {
  const logger = outage.quietLogger(ownLogger)
  // A separate connection: key look-ups must not wait behind the counters of a large batch.
  const client = openClient(url, { writeConcern: { w: 1 }, readConcern: { level: 'local' } })
  const db = databaseOf(client, url)
  const closing = new AbortController()
  let shared = false
  let connecting: Promise<void> | undefined
  connect()

  function connect(): void {
    connecting ??= repeatUntilSuccess(prepare, {
      logger,
      signal: closing.signal,
      failure: 'MongoDB unavailable: this process counts rate limits alone',
    }).finally(() => (connecting = undefined))
  }

  async function prepare(): Promise<void> {
    await client.connect()
    const collection = db.collection(COLLECTION)
    await collection.createIndex({ key: 1 }, { unique: true })
    await collection.createIndex({ expire: 1 }, { expireAfterSeconds: 0 })
    shared = true
  }

  function open({ kind, seconds }: { kind: string; seconds: number }): RateCounters {
    const memory = memoryRateCounters({ seconds })
    const limiter = new RateLimiterMongo({
      storeClient: db,
      tableName: COLLECTION,
      disableIndexesCreation: true,
      keyPrefix: `${kind}/${seconds}`,
      points: Number.MAX_SAFE_INTEGER,
      duration: seconds,
    })
    async function shareOr<T>(call: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
      if (!shared) return otherwise()
      try {
        return await awaitAnswer(call(), answerMs, 'rate limits')
      } catch (error) {
        if (shared)
          logger.warn({ err: error }, 'MongoDB unavailable: this process counts rate limits alone')
        shared = false
        connect()
        return otherwise()
      }
    }
    return {
      add: (name, points) =>
        shareOr(
          () => limiter.consume(name, points),
          () => memory.add(name, points),
        ),
      get: (name) =>
        shareOr(
          async () => (await limiter.get(name)) ?? undefined,
          () => memory.get(name),
        ),
    }
  }

  return {
    open,
    shared: () => shared,
    async close() {
      closing.abort()
      shared = false
      const closed = Promise.all([connecting, client.close()])
      await Promise.race([closed, pause(CLOSED_WITHIN_MS, undefined, { ref: false })])
    },
  }
}
