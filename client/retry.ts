import { RATE_LIMITED, type ServiceAnswer, type Later } from './answer.ts'
import type { Attempt } from './post.ts'
import type { ReportOutcome } from './report.ts'
import { realTiming, type Timing } from './timing.ts'

const LONGEST_BACK_OFF_MS = 5_000

export type Patience = {
  /**
   * How long to retry without a usable response; default 60 s. After that each request gets one
   * attempt until the next usable response. A rate limit is waited out however long it takes.
   */
  readonly giveUpAfterMs?: number | undefined
  readonly timing?: Timing | undefined
  /** Called for every response and every retry, for statistics. */
  readonly observe?: { answered(ms: number): void; repeated(reason: string): void } | undefined
}

export type Retry = (
  attempt: () => Promise<Attempt>,
  judge: (answer: ServiceAnswer) => ReportOutcome | Later,
  signal: AbortSignal,
) => Promise<ReportOutcome>

/** Makes attempts until one settles the request, with growing pauses or as `Retry-After` says. */
export function retryUntilSettled({
  giveUpAfterMs = 60_000,
  timing = realTiming,
  observe,
}: Patience): Retry {
  let failingSince: number | undefined

  return async function retry(attempt, judge, signal) {
    for (let failures = 1; ; failures += 1) {
      if (signal.aborted) return { kind: 'stopped' }
      const startedAt = timing.now()
      const made = await attempt()
      const isAnswer = 'status' in made
      if (isAnswer) observe?.answered(timing.now() - startedAt)
      if (isAnswer && made.status < 500) failingSince = undefined
      const judged = isAnswer ? judge(made) : later(made.unanswered)
      if (judged.kind !== 'later') return judged
      if (signal.aborted) return { kind: 'stopped' }
      const { reason } = judged
      if (reason !== RATE_LIMITED) {
        failingSince ??= startedAt
        if (timing.now() - failingSince >= giveUpAfterMs) return { kind: 'given-up', reason }
      }
      const wait = {
        failures,
        retryAfterMs: isAnswer ? made.retryAfterMs : undefined,
        longestMs: LONGEST_BACK_OFF_MS,
        jitter: timing.jitter(),
      }
      await timing.pause(backOffMs(wait), signal)
      if (!signal.aborted) observe?.repeated(reason)
    }
  }
}

function later(reason: string): Later {
  return { kind: 'later', reason }
}

const SHORTEST_MS = 200
const JITTER_MS = 500
/** A longer pause is hardly intended, and Node fires timers of more than 24 days immediately. */
const LONGEST_RETRY_AFTER_MS = 3_600_000

/**
 * The pause before the next attempt: as the service requests, or else longer after every failure.
 */
export function backOffMs({
  failures,
  retryAfterMs,
  longestMs,
  jitter,
}: {
  /** Consecutive failures, from 1. */
  failures: number
  retryAfterMs?: number | undefined
  longestMs: number
  /** From 0 to 1, so that senders do not all return at the same time. */
  jitter: number
}): number {
  const waitMs =
    retryAfterMs === undefined
      ? Math.min(longestMs, SHORTEST_MS * 2 ** (failures - 1))
      : Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs)
  return waitMs + jitter * JITTER_MS
}
