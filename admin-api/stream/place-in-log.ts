import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../runtime/logger.ts'
import type { LiveFeed, ReadableLog } from './live-feed.ts'
import { isAsFarAs, type Place } from './mark.ts'
import type { Pulse } from './pulse.ts'

/**
 * The place that a client claims, as far as the log has come. One beyond the end is of another log:
 * what comes must not be left out for it. Asks the log only where the feed has not come as far: that
 * of another process may have.
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
  while (!isAsFarAs(feed.end(), claimed)) {
    try {
      const extent = yield* pulse.meanwhile(eventLog.extent())
      // The reader has ended.
      if (extent === undefined) break
      const ends = new Map(extent.map(({ partition, next }) => [partition, next - 1]))
      const place: Place = {}
      for (const [text, offset] of Object.entries(claimed)) {
        const partition = Number(text)
        const last = Math.min(offset, ends.get(partition) ?? -1)
        if (last >= 0) place[partition] = last
      }
      return { place, beyond: !isAsFarAs(place, claimed) }
    } catch (error) {
      logger.warn({ err: error }, 'a reader waits for the log')
      yield* pulse.meanwhile(pause(retryMs, undefined, { ref: false }))
    }
  }
  return { place: { ...claimed }, beyond: false }
}
