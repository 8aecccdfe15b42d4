import type { UnreadableEntry } from '../event-log.ts'
import type { RingEntry } from './ring.ts'

/**
 * Reports entries that cannot be read to readers and logs them: the first immediately, later ones every
 * `everyMs`, because clients list everything again after a gap.
 */
export function unreadableEntries({
  everyMs,
  push,
  logger,
  signal,
}: {
  everyMs: number
  push: (gap: RingEntry) => void
  logger: { warn(fields: object, message: string): void }
  signal: AbortSignal
}): (entry: UnreadableEntry) => void {
  let count = 0
  let waiting: NodeJS.Timeout | undefined
  let last: UnreadableEntry | undefined
  signal.addEventListener('abort', () => clearTimeout(waiting))

  function report(): void {
    waiting = undefined
    if (last === undefined) return
    const { reason, origin } = last
    logger.warn({ count, reason, origin }, 'entries of the log cannot be read for the live stream')
    count = 0
    last = undefined
    waiting = setTimeout(() => {
      const more = last !== undefined
      report()
      if (more) push({ kind: 'gap', reason: 'unreadable' })
    }, everyMs).unref()
  }

  return function unreadable(entry) {
    count += 1
    last = entry
    if (waiting !== undefined) return
    push({ kind: 'gap', reason: 'unreadable', origin: entry.origin })
    report()
  }
}
