import { sendTogether } from '../../client/send-together.ts'
import { retrying, type Patience } from '../../client/retry.ts'
import type { Target } from '../../client/post.ts'
import type { ReportRefusal } from '../../client/report.ts'
import type { Outgoing } from './outbox.ts'
import type { ImportTally } from './tally.ts'

const SCOPE = 'positions:import'
const IMPORT = '/api/v1/gps/import'
/** A service that restarts or is upgraded is back by then. */
const GIVE_UP_AFTER_MS = 300_000
const NEVER = new AbortController().signal

/**
 * Sends batches to the service for as long as it may take them later, and tallies their outcomes. Each
 * rejects once the service refuses a request as a whole, or does not answer.
 */
export function historySender(
  target: Target,
  { tally, ...patience }: { tally: ImportTally } & Patience,
): (batch: readonly Outgoing[]) => Promise<void> {
  const retry = retrying({ giveUpAfterMs: GIVE_UP_AFTER_MS, ...patience })
  return async function send(batch) {
    const reports = batch.map(({ report }) => report)
    const sent = { target, path: IMPORT, retry, signal: NEVER }
    const { outcomes, end } = await sendTogether(reports, sent)
    for (const { report, where } of batch) {
      const outcome = outcomes.get(report)
      if (outcome?.kind === 'accepted') tally.accept(report)
      if (outcome?.kind === 'refused') tally.refuse(outcome, where)
    }
    if (outcomes.size === batch.length) return
    throw new Error(
      end.kind === 'refused'
        ? `the service refuses the import: ${end.message}${remedyOf(end)}`
        : `the service has not taken anything for too long (${'reason' in end ? end.reason : end.kind})`,
    )
  }
}

/** A key for reporting is at hand, and does not import. */
function remedyOf({ error, message }: ReportRefusal): string {
  return error === 'FORBIDDEN' && message.includes(SCOPE)
    ? '. Create another key: in the console, Keys → New key, with the permission “Import history”'
    : ''
}
