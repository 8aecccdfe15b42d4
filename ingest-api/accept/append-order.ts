import { isDeviceSeen, type AppendedEvent } from '../../schemas/events/appended-event.ts'

/**
 * The order in which the events of one request are appended: of min(timestamp, receivedAt), heartbeats last, and
 * otherwise as sent. Facts follow the order of the log, so a phone that sends its backlog newest first loses no
 * visit. Most requests are in order already: they are returned as they are, after one look at each event.
 */
export function inAppendOrder(events: readonly AppendedEvent[]): readonly AppendedEvent[] {
  let last = -Infinity
  for (const event of events) {
    const time = appendedAs(event)
    if (time < last) return [...events].sort((a, b) => compare(appendedAs(a), appendedAs(b)))
    last = time
  }
  return events
}

function appendedAs(event: AppendedEvent): number {
  return isDeviceSeen(event) ? Infinity : Math.min(event.timestamp, event.receivedAt)
}

/** Not by a difference: that of two infinities is no number. */
function compare(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
