/**
 * Times in milliseconds since the epoch, or as texts in the service's only format, which compare
 * equally.
 */
type Times<Time extends number | string> = {
  readonly timestamp: Time
  readonly receivedAt: Time
}

type LogPlace = { readonly partition: number; readonly offset: number }

/** When a position was recorded: a clock that runs ahead does not date it after its receipt. */
export function trueAt<Time extends number | string>({ timestamp, receivedAt }: Times<Time>): Time {
  return timestamp < receivedAt ? timestamp : receivedAt
}

/**
 * When a position shows that its device is alive: an imported one was recorded earlier by another
 * system.
 */
export function seenAt<Time extends number | string>(
  position: Times<Time> & { readonly imported?: boolean | undefined },
): Time {
  return position.imported === true ? trueAt(position) : position.receivedAt
}

/**
 * The order of last positions: (min(timestamp, receivedAt), receivedAt, origin in the log). So late
 * reports do not move a device, and a timestamp in the future does not pin it until that time. 0 if
 * only the origins differ.
 */
export function comparePositionTimes<Time extends number | string>(
  a: Times<Time>,
  b: Times<Time>,
): number {
  return compare(trueAt(a), trueAt(b)) || compare(a.receivedAt, b.receivedAt)
}

/** The order of the log; offsets of different partitions do not show which event came first. */
export function compareOrigins(a: LogPlace, b: LogPlace): number {
  return a.partition - b.partition || a.offset - b.offset
}

function compare<Time extends number | string>(a: Time, b: Time): number {
  return a < b ? -1 : a > b ? 1 : 0
}
