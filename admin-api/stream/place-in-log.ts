import { setTimeout as pause } from 'node:timers/promises'
import { hasReached, noFurtherThan } from '../../event-log/offsets.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { LiveFeed, ReadableLog } from './live-feed.ts'
import type { Place } from './mark.ts'
import type { Pulse } from './pulse.ts'

/**
 * The place that a client sends, capped at the end of the log. A place beyond the end is from
 * another log, and must not make the reader skip new events. Asks the log only if the feed is
 * behind: another process's feed may be further.
 */
export async function* placeInLog(
  claimed: Readonly<Place>,
  {
    feed,
    eventLog,
    pulse,
    retryMs,
    logger,
  }: {
    feed: LiveFeed
    eventLog: Pick<ReadableLog, 'extent'>
    pulse: Pulse
    retryMs: number
    logger: Logger
  },
): AsyncGenerator<string, { readonly place: Place; readonly beyond: boolean }> {
  while (!hasReached(feed.end(), claimed)) {
    try {
      const extent = yield* pulse.meanwhile(eventLog.extent())
      // The reader has ended.
      if (extent === undefined) break
      const ends = Object.fromEntries(
        extent.filter(({ next }) => next > 0).map(({ partition, next }) => [partition, next - 1]),
      )
      const place = noFurtherThan(claimed, ends)
      return { place, beyond: !hasReached(place, claimed) }
    } catch (error) {
      logger.warn({ err: error }, 'a reader waits for the log')
      yield* pulse.meanwhile(pause(retryMs, undefined, { ref: false }))
    }
  }
  return { place: { ...claimed }, beyond: false }
}
