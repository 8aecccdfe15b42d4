import { DependencyError } from '../../runtime/errors.ts'
import type { AppendedEvent } from '../../schemas/events/appended-event.ts'
import type { EventLog } from '../event-log.ts'

/** A pending append; only the first `resolve` or `reject` counts. */
export type Append = {
  readonly events: readonly AppendedEvent[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * With this many unconfirmed appends, a log that confirms nothing for this time counts as
 * unavailable: the process rejects requests before twice as many are in flight
 * (runtime/http/in-flight.ts).
 */
const MANY = 300
const SILENT_MS = 200

type Sent = { readonly append: Append; readonly sentAt: number }

/**
 * Passes appends to the log. When the log rejects an append for a temporary reason, or does not
 * confirm it in time, `onAway` gets all unconfirmed appends in sending order. The log may still
 * write and confirm them, after an erasure that followed their acknowledgement. So each is marked
 * as spooled from the start.
 */
export function directAppends({
  eventLog,
  withinMs,
  onAway,
}: {
  eventLog: Pick<EventLog, 'append'>
  withinMs: number
  onAway: (error: unknown, unconfirmed: readonly Append[]) => void
}): { send(append: Append): void } {
  /** Oldest first. */
  const unconfirmed = new Set<Sent>()
  let timer: NodeJS.Timeout | undefined
  let confirmedAt = -Infinity

  return {
    send(append) {
      const sent = { append, sentAt: performance.now() }
      unconfirmed.add(sent)
      timer ??= setTimeout(look, withinMs)
      eventLog.append(append.events, { spooled: true }).then(
        () => {
          confirmedAt = performance.now()
          unconfirmed.delete(sent)
          append.resolve()
        },
        (error: unknown) => {
          if (!unconfirmed.has(sent)) return
          if (error instanceof DependencyError && error.retriable) return giveUp(error)
          unconfirmed.delete(sent)
          append.reject(error)
        },
      )
      if (unconfirmed.size >= MANY) giveUpIfSilent(sent.sentAt)
    },
  }

  /** One timer serves all appends: it checks the oldest. */
  function look(): void {
    timer = undefined
    const [oldest] = unconfirmed
    if (oldest === undefined) return
    const leftMs = oldest.sentAt + withinMs - performance.now()
    if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs))
    else giveUp(new Error(`the event log did not write within ${withinMs} ms`))
  }

  function giveUpIfSilent(now: number): void {
    const [oldest] = unconfirmed
    const silentMs = now - Math.max(confirmedAt, oldest?.sentAt ?? now)
    if (silentMs > SILENT_MS) giveUp(new Error(`the event log has been silent for ${SILENT_MS} ms`))
  }

  function giveUp(error: unknown): void {
    clearTimeout(timer)
    timer = undefined
    const appends = Array.from(unconfirmed, ({ append }) => append)
    unconfirmed.clear()
    onAway(error, appends)
  }
}
