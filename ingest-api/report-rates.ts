import type { Clock } from '../runtime/clock.ts'
import { ERRORS, type ErrorIdentifier } from '../runtime/errors.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'

const MINUTE_MS = 60_000

type Sample = { readonly at: number; readonly accepted: number; readonly refused: number }

/**
 * Each call returns the reports accepted and refused in the last 60 s, or since the start if that is
 * more recent. If the last call was longer ago, the counts since then are scaled to 60 s. Our own
 * errors count as neither.
 */
export function reportRates({ metrics, clock }: { metrics: Metrics; clock: Clock }) {
  let samples: readonly Sample[] = [{ at: clock.now(), accepted: 0, refused: 0 }]

  return async function rates(): Promise<
    Pick<InstanceReport, 'acceptedPerMinute' | 'refusedPerMinute'>
  > {
    const now = await sample(metrics, clock)
    const within = samples.findIndex(({ at }) => now.at - at < MINUTE_MS)
    // Keep one sample that is at least a minute old; older ones are no longer needed.
    const first = within === -1 ? samples.length - 1 : Math.max(0, within - 1)
    samples = [...samples.slice(first), now]
    const since = samples[0] ?? now
    const share = MINUTE_MS / Math.max(MINUTE_MS, now.at - since.at)
    return {
      acceptedPerMinute: Math.round((now.accepted - since.accepted) * share),
      refusedPerMinute: Math.round((now.refused - since.refused) * share),
    }
  }
}

async function sample(metrics: Metrics, clock: Clock): Promise<Sample> {
  let accepted = 0
  let refused = 0
  for (const { labels, value } of (await metrics.reports.get()).values) {
    const outcome = String(labels.outcome)
    if (outcome === 'accepted') accepted += value
    else if (ERRORS[outcome as ErrorIdentifier] < 500) refused += value
  }
  return { at: clock.now(), accepted, refused }
}
