import { setTimeout as pause } from 'node:timers/promises'
import { hasReached, noFurtherThan } from '../offsets.ts'
import type { FollowerLogger, ReadableLog } from './followed.ts'
import type { LiveFeed } from './live-feed.ts'
import type { LogPlace } from './mark.ts'

/**
 * The place that a client sends, capped at the end of the log. A place beyond the end is from
 * another log, and must not make the reader skip new events. Asks the log only if the feed is
 * behind: another process's feed may be further.
 */
export async function placeInLog(
  claimed: Readonly<LogPlace>,
  {
    feed,
    eventLog,
    retryMs,
    signal,
    logger,
  }: {
    feed: Pick<LiveFeed, 'end'>
    eventLog: Pick<ReadableLog, 'extent'>
    retryMs: number
    signal: AbortSignal
    logger: FollowerLogger
  },
): Promise<{ readonly place: LogPlace; readonly beyond: boolean }> {
  while (!hasReached(feed.end(), claimed) && !signal.aborted) {
    try {
      const extent = await eventLog.extent()
      const ends = Object.fromEntries(
        extent.filter(({ next }) => next > 0).map(({ partition, next }) => [partition, next - 1]),
      )
      const place = noFurtherThan(claimed, ends)
      return { place, beyond: !hasReached(place, claimed) }
    } catch (error) {
      logger.warn({ err: error }, 'a reader waits for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return { place: { ...claimed }, beyond: false }
}
