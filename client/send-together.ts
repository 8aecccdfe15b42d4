import { parseOutcome, parseOutcomes, type ServiceAnswer, type Later } from './answer.ts'
import { post, type Target } from './post.ts'
import type { ReportOutcome } from './report.ts'
import type { Retry } from './retry.ts'

/**
 * Sends reports in one request until each has an outcome, repeating only reports that still lack
 * one. `end` is the outcome of all reports that are not in `outcomes`: the request as a whole was
 * refused, given up or stopped.
 */
export async function sendTogether<Sent extends object>(
  reports: readonly Sent[],
  {
    target,
    path,
    retry,
    signal,
  }: { target: Target; path: string; retry: Retry; signal: AbortSignal },
): Promise<{ outcomes: ReadonlyMap<Sent, ReportOutcome>; end: ReportOutcome }> {
  const outcomes = new Map<Sent, ReportOutcome>()
  let open = reports
  const send = () => post(target, { path, body: JSON.stringify({ reports: open }), signal })
  return { end: await retry(send, judge, signal), outcomes }

  /** Settles the open reports, all alike if the response has no individual results. */
  function judge(answer: ServiceAnswer): ReportOutcome | Later {
    const ownOutcomes = parseOutcomes(answer, open.length)
    if (ownOutcomes === undefined) return parseOutcome(answer)
    open.forEach((report, index) => {
      const outcome = ownOutcomes[index]
      if (outcome !== undefined && outcome.kind !== 'later') outcomes.set(report, outcome)
    })
    open = open.filter((report) => !outcomes.has(report))
    return ownOutcomes.find(({ kind }) => kind === 'later') ?? { kind: 'stopped' }
  }
}
