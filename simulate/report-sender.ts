import type { Answer, Service } from './service.ts'
import { count, type Tally } from './tally.ts'
import type { Timing } from './timing.ts'

export type Outcome =
  | { readonly kind: 'acknowledged'; readonly recordId: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'given-up'; readonly reason: string }
  | { readonly kind: 'unfinished' }

const JITTER_MS = 500
const LONGEST_BACKOFF_MS = 5_000

type Attempt =
  | { readonly kind: 'settled'; readonly outcome: Outcome }
  | { readonly kind: 'again'; readonly reason: string; readonly afterMs?: number }

/**
 * Sends the reports of one device, one at a time. Retries a 429 indefinitely, and any 5xx, time-out
 * or broken connection until the device has had no usable answer for `giveUpMs`. From then until the
 * next usable answer each report gets one attempt, so that a run against a dead service ends.
 */
export function reportSender({
  service,
  giveUpMs,
  timing,
  tally,
  stop,
}: {
  service: Service
  giveUpMs: number
  timing: Timing
  tally: Tally
  /** Aborted: nothing is sent again. */
  stop: AbortSignal
}): (body: string) => Promise<Outcome> {
  let failingSince: number | undefined

  return async function send(body) {
    for (let failures = 0; ;) {
      const startedAt = timing.now()
      const attempt = await tryOnce(startedAt, body)
      if (attempt.kind === 'settled') return attempt.outcome
      const { reason, afterMs } = attempt
      if (reason === RATE_LIMITED) failures = 0
      else {
        failures += 1
        failingSince ??= startedAt
        if (timing.now() - failingSince >= giveUpMs) return { kind: 'given-up', reason }
      }
      if (stop.aborted) return { kind: 'unfinished' }
      const backoffMs = Math.min(LONGEST_BACKOFF_MS, 100 * 2 ** failures)
      await timing.pause((afterMs ?? backoffMs) + timing.jitter() * JITTER_MS, stop)
      if (stop.aborted) return { kind: 'unfinished' }
      count(tally.repeated, reason)
    }
  }

  async function tryOnce(startedAt: number, body: string): Promise<Attempt> {
    let answer: Answer
    try {
      answer = await service.submit(body)
    } catch (error) {
      return { kind: 'again', reason: networkReason(error) }
    }
    tally.answerMs.add(timing.now() - startedAt)
    if (answer.status < 500) failingSince = undefined
    return judge(answer)
  }
}

const RATE_LIMITED = 'RATE_LIMITED'

function judge({ status, recordId, error, retryAfterMs }: Answer): Attempt {
  if (status === 200) {
    const outcome: Outcome =
      recordId === undefined
        ? { kind: 'refused', reason: '200 without a recordId' }
        : { kind: 'acknowledged', recordId }
    return { kind: 'settled', outcome }
  }
  if (status !== 429 && status < 500) {
    return { kind: 'settled', outcome: { kind: 'refused', reason: error } }
  }
  return {
    kind: 'again',
    reason: status === 429 ? RATE_LIMITED : error,
    ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
  }
}

/** A short name for a network error. */
function networkReason(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
  return [code, name].find((text) => typeof text === 'string') ?? 'no answer'
}
