import { setTimeout as pause } from 'node:timers/promises'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { Extent } from '../event-log.ts'
import { hasReached, noFurtherThan } from '../offsets.ts'
import type { FollowerLogger, ReadableLog } from './followed.ts'
import type { LiveFeed } from './live-feed.ts'
import { lastEntry, type LogPlace, type LastEntry } from './mark.ts'

/**
 * The extent of the log, by default as it is now, otherwise at most so old. Calls that come while one is under way share the next one: theirs may not
 * have begun before they did.
 */
export function sharedExtent(
  log: Pick<ReadableLog, 'extent'>,
): (forMs?: number) => Promise<readonly Extent[]> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly Extent[]> | undefined
  let known: { readonly at: number; readonly extent: readonly Extent[] } | undefined

  async function ask(): Promise<readonly Extent[]> {
    const at = performance.now()
    const extent = await log.extent()
    known = { at, extent }
    return extent
  }

  return async (forMs = 0) => {
    if (known !== undefined && performance.now() - known.at < forMs) return known.extent
    next ??= last.then(() => {
      next = undefined
      const asked = ask()
      last = asked.catch(() => undefined)
      return asked
    })
    return next
  }
}

/**
 * The place that a client sends, capped at the end of the log. A place beyond the end is from
 * another log, and must not make the reader skip new events. Asks the log only if the feed is
 * behind: another process's feed may be further.
 */
export async function placeInLog(
  claimed: Readonly<LogPlace>,
  following: {
    readonly feed: Pick<LiveFeed, 'end'>
    readonly eventLog: Pick<ReadableLog, 'extent'>
    readonly retryMs: number
    /** Asked for only if the feed is behind. */
    readonly signal: AbortSignal
    readonly logger: FollowerLogger
  },
): Promise<{ readonly place: LogPlace; readonly beyond: boolean }> {
  while (!hasReached(following.feed.end(), claimed) && !following.signal.aborted) {
    const { eventLog, retryMs, signal, logger } = following
    try {
      const extent = await eventLog.extent()
      const ends = Object.fromEntries(
        extent.filter(({ next }) => next > 0).map(({ partition, next }) => [partition, next - 1]),
      )
      const place = noFurtherThan(claimed, ends)
      return { place, beyond: !hasReached(place, claimed) }
    } catch (error) {
      logger.warn({ err: error }, 'reader waiting for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return { place: { ...claimed }, beyond: false }
}

/**
 * Whether the log still has the entry that a client has read last. Otherwise it is another log, or was
 * restored from a backup, and the client's offsets come again with other entries. An entry that
 * retention has removed counts as the same.
 */
export async function isStillThere(
  last: LastEntry,
  {
    feed,
    eventLog,
    retryMs,
    signal,
    logger,
  }: {
    feed: Pick<LiveFeed, 'timeAt'>
    eventLog: ReadableLog
    retryMs: number
    signal: AbortSignal
    logger: FollowerLogger
  },
): Promise<boolean> {
  const known = feed.timeAt(last)
  if (known !== undefined) return known === last.time
  while (!signal.aborted) {
    try {
      const time = await timeInLog(last, { eventLog, signal })
      return time === 'removed' || time === last.time
    } catch (error) {
      logger.warn({ err: error }, 'reader waiting for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return true
}

/** The time of the entry at this place; undefined for one without a time. */
async function timeInLog(
  { partition, offset }: Origin,
  { eventLog, signal }: { eventLog: ReadableLog; signal: AbortSignal },
): Promise<number | 'removed' | undefined> {
  const extent = await eventLog.extent()
  const own = extent.find((one) => one.partition === partition)
  if (own === undefined || offset >= own.next) return undefined
  if (offset < own.first) return 'removed'
  const ends = extent.filter(({ next }) => next > 0).map((one) => [one.partition, one.next - 1])
  const after = { ...(Object.fromEntries(ends) as Record<number, number>), [partition]: offset - 1 }
  const ending = new AbortController()
  try {
    const ended = AbortSignal.any([signal, ending.signal])
    for await (const item of eventLog.tail({ after, signal: ended })) {
      if (item.partition !== partition) continue
      if (item.kind === 'gap') return 'removed'
      const entry = item.entries.find(({ origin }) => origin.offset === offset)
      return entry && lastEntry(entry)?.time
    }
  } finally {
    ending.abort()
  }
  return 'removed'
}
