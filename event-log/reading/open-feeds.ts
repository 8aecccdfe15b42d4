import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { createLingering } from '../../runtime/process/lingering.ts'
import type { LogEntry, ReadableLog } from '../event-log.ts'
import type { FactLog } from '../fact-log.ts'
import type { Feeds } from '../feeds.ts'
import { logFeed, type FeedOptions, type FeedSource } from './feed.ts'
import {
  startLiveFeed,
  type FollowerLogger,
  type KnownErasures,
  type LiveFeed,
} from './live-feed.ts'
import type { NotErased } from './log-reader.ts'
import type { ErasedDevice } from './ring.ts'

export type OpenFeeds = {
  readonly eventLog: ReadableLog<LogEntry>
  readonly factLog: FactLog
  readonly store: KnownErasures & HeldFacts
  readonly logger: FollowerLogger
  readonly stopping: AbortSignal
  /**
   * Join existing live readers of the logs. Without them, live readers are started while in use.
   */
  readonly joinEvents?: JoinLive
  readonly joinFacts?: JoinLive
  readonly options?: Partial<FeedsOptions>
}

export type FeedsOptions = FeedOptions & {
  /** How long a reader of the past waits for a pending erasure. */
  readonly pendingMs: number
  /**
   * Limits of the live readers' rings (entries and approximate bytes); how long they keep reading
   * when unused.
   */
  readonly ringEntries: number
  readonly ringBytes: number
  readonly lingersMs: number
  readonly unreadableEveryMs: number
}

const FEEDS_OPTIONS: FeedsOptions = {
  takeTurn: () => () => undefined,
  retryMs: 1_000,
  readsForMs: 10_000,
  mostEntries: 50_000,
  keptMs: 10_000,
  pastReaders: 4,
  pastReadersEach: 2,
  pastBytes: 32 * 1024 * 1024,
  extentMs: 0,
  pendingMs: 10_000,
  ringEntries: 10_000,
  ringBytes: 32 * 1024 * 1024,
  lingersMs: 60_000,
  unreadableEveryMs: 5_000,
}

/** The facts still in the store: an erasure removes them there first. */
export type HeldFacts = {
  /** Returns the ids of the facts that are stored and belong to no hidden device. */
  heldFacts(query: {
    readonly accountId: string
    readonly facts: readonly Pick<DeviceFact, 'id' | 'deviceId'>[]
  }): Promise<ReadonlySet<string>>
}

/**
 * The feeds of a process. Each shares one live reader of its log, which reads only while it is
 * used.
 */
export function openFeeds({ joinEvents, joinFacts, options: given, ...parts }: OpenFeeds): Feeds {
  const options = { ...FEEDS_OPTIONS, ...given }
  const all = { ...parts, ...options }
  return {
    positions: logFeed(positionsOf(all, joinEvents ?? shareFeed(parts.eventLog, all)), all),
    facts: logFeed(factsOf(all, joinFacts ?? shareFeed(parts.factLog, all)), all),
  }
}

type Parts = Omit<OpenFeeds, 'joinEvents' | 'joinFacts' | 'options'> & FeedsOptions

/** Joins a shared live reader; `leave` must be called once. */
export type JoinLive = () => { readonly feed: LiveFeed; readonly leave: () => void }

/** A live reader of a log, which reads while anyone uses it, and for a while afterwards. */
export function shareFeed(
  log: Pick<ReadableLog, 'tail' | 'extent'>,
  {
    lingersMs,
    stopping,
    ...options
  }: Omit<Parameters<typeof startLiveFeed>[0], 'eventLog' | 'signal'> & {
    readonly lingersMs: number
    readonly stopping: AbortSignal
  },
): JoinLive {
  const open = (signal: AbortSignal) => startLiveFeed({ ...options, eventLog: log, signal })
  const shared = createLingering({ open, lingersMs, stopping })
  return () => {
    const { opened: feed, leave } = shared.join()
    return { feed, leave }
  }
}

function positionsOf(
  { eventLog: log, store, logger, pendingMs }: Parts,
  join: JoinLive,
): FeedSource {
  return {
    marked: 'events',
    log,
    join,
    notErased: (reader) => omitErased({ ...reader, store, logger, pendingMs }),
    // The live reader has read erasures before they are confirmed, and readers of the past wait for
    // them.
    withoutErased: async (_accountId, found) => found,
  }
}

function factsOf({ factLog: log, store }: Parts, join: JoinLive): FeedSource {
  return {
    marked: 'facts',
    log,
    join,
    notErased: () => async (_batch, entries) => entries,
    async withoutErased(accountId, found) {
      const facts = found.flatMap(({ entry }) => (entry.kind === 'fact' ? [entry.event] : []))
      if (facts.length === 0) return found
      const held = await store.heldFacts({ accountId, facts })
      return found.filter(({ entry }) => entry.kind !== 'fact' || held.has(entry.event.id))
    },
  }
}

const LOOK_AGAIN_MS = 200
const ERASURES_REMEMBERED = 1_000

/**
 * For a reader of past positions: omits positions that a later erasure covers. Waits at most
 * `pendingMs` for a pending erasure to appear in the log.
 */
export function omitErased({
  store,
  feed,
  logger,
  accountId,
  pendingMs,
  signal,
}: {
  store: KnownErasures
  feed: Pick<LiveFeed, 'erasure'>
  logger: FollowerLogger
  accountId: string
  pendingMs: number
  signal: AbortSignal
}): NotErased {
  const read = new LRUCache<string, ErasedDevice>({ max: ERASURES_REMEMBERED })

  return async function notErased(batch, entries) {
    for (const entry of batch.entries) {
      if (entry.kind !== 'erasure' || entry.event.accountId !== accountId) continue
      read.set(entry.event.deviceId, { ...entry.event, origin: entry.origin })
    }
    const positions = entries.filter(({ kind }) => kind === 'position')
    const deviceIds = [...new Set(positions.map(({ event }) => event.deviceId))]
    if (deviceIds.length === 0) return entries
    let deadline: number | undefined
    while (!signal.aborted) {
      try {
        const limits = await limitsOf(deviceIds, batch.partition)
        if (limits !== undefined) {
          return entries.filter((entry) => {
            const limit = limits.get(entry.event.deviceId)
            if (limit === undefined || entry.kind !== 'position') return true
            return entry.origin.offset > limit.upTo && !isWithdrawn(entry, limit.erasedAt)
          })
        }
        deadline ??= performance.now() + pendingMs
        if (performance.now() > deadline) return undefined
      } catch (error) {
        logger.warn({ err: error }, 'history reader could not read the store; retrying')
      }
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  /**
   * The offset up to which each device is erased, and when; undefined while an erasure is unknown.
   */
  async function limitsOf(deviceIds: readonly string[], partition: number) {
    const applied = await store.erasuresOf({ accountId, deviceIds })
    const limits = new Map<string, { readonly upTo: number; readonly erasedAt: number }>()
    for (const deviceId of deviceIds) {
      const stored = applied.get(deviceId)
      const known = stored?.upTo[partition] ?? -1
      const seen = [feed.erasure({ accountId, deviceId }), read.get(deviceId)].filter(
        (erasure) => erasure !== undefined,
      )
      const here = seen.filter(({ origin }) => origin.partition === partition)
      const upTo = Math.max(known, ...here.map(({ origin }) => origin.offset))
      if (stored?.pending === true && upTo === known) return undefined
      if (stored === undefined && seen.length === 0) continue
      const times = seen.map(({ erasedAt }) => erasedAt)
      limits.set(deviceId, { upTo, erasedAt: Math.max(stored?.erasedAt ?? 0, ...times) })
    }
    return limits
  }
}
