import type { Feed } from '../../event-log/feeds.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'

/**
 * The mark for a place that an operator has entered.
 * @throws {ApiError} 400 naming `field`, for anything but `now`, `start`, a mark of this feed and a time.
 */
export async function placeInFeed(
  feed: Pick<Feed<never>, 'markAt' | 'isMark'>,
  { place, field, now }: { readonly place: string; readonly field: string; readonly now: number },
): Promise<string> {
  if (place === 'now') return feed.markAt('end')
  if (place === 'start') return feed.markAt('start')
  if (feed.isMark(place)) return place
  const time = parseIso8601(place)
  if (time !== undefined && time <= now) return feed.markAt(time)
  const message = `${field} must be start, now, a mark of this feed or an ISO 8601 date and time that has passed`
  throw invalidParams([{ field, message }])
}
