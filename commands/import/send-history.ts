import { sendTogether } from '../../client/send-together.ts'
import { retryUntilSettled, type Patience } from '../../client/retry.ts'
import type { Target } from '../../client/post.ts'
import type { ReportRefusal } from '../../client/report.ts'
import type { ImportTally } from './tally.ts'
import type { UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'

const SCOPE = 'positions:import'
const IMPORT = '/api/v1/gps/import'
/** Long enough for a service to restart or be upgraded. */
const GIVE_UP_AFTER_MS = 300_000
/** Before the first response these mean a wrong URL, or a service that was not started. */
const NOBODY = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'BAD_PORT']
const TRIES_OF_NOBODY = 4

/**
 * Sends batches to the service for as long as it may accept them later, and tallies their outcomes.
 * Each call rejects once the service rejects a request as a whole, or does not respond.
 */
export function historySender(
  target: Target,
  { tally, ...patience }: { tally: ImportTally } & Patience,
): (batch: readonly Outgoing[]) => Promise<void> {
  const unreachable = new AbortController()
  let nobody: string | undefined
  let tries = 0
  const observe = {
    answered(ms: number) {
      tries = Infinity
      patience.observe?.answered(ms)
    },
    repeated(reason: string) {
      patience.observe?.repeated(reason)
      tries += 1
      if (tries !== TRIES_OF_NOBODY || !NOBODY.includes(reason)) return
      nobody = reason
      unreachable.abort()
    },
  }
  const retry = retryUntilSettled({ giveUpAfterMs: GIVE_UP_AFTER_MS, ...patience, observe })
  return async function send(batch) {
    const reports = batch.map(({ report }) => report)
    const sent = { target, path: IMPORT, retry, signal: unreachable.signal }
    const { outcomes, end } = await sendTogether(reports, sent)
    for (const { report, where } of batch) {
      const outcome = outcomes.get(report)
      if (outcome?.kind === 'accepted') tally.accept(report)
      if (outcome?.kind === 'refused') tally.refuse(outcome, where)
    }
    if (outcomes.size === batch.length) return
    if (nobody !== undefined) {
      throw new Error(
        `no response from ${String(target.url)} (${nobody}): ${remedyOfNobody(nobody)}`,
      )
    }
    throw new Error(
      end.kind === 'refused'
        ? `the service rejects the import: ${end.message}${remedyOf(end)}`
        : `the service has not accepted anything for too long (${'reason' in end ? end.reason : end.kind})`,
    )
  }
}

function remedyOfNobody(reason: string): string {
  return reason === 'BAD_PORT'
    ? 'Node sends no requests to this port: serve the ingest API on another one'
    : 'start the service, or correct --url'
}

/** Most users have a key for reporting, which may not import. */
function remedyOf({ error, message }: ReportRefusal): string {
  return error === 'FORBIDDEN' && message.includes(SCOPE)
    ? '. Create another key: in the console, Keys → New key, with the permission “Import history”'
    : ''
}

/** The service's limits for one request. */
const MOST_REPORTS = 1_000
const MOST_BYTES = 1024 * 1024
/** Bytes reserved for `{"reports":[]}` and the commas between reports. */
const WRAPPING_BYTES = 2_048

export type Outgoing = { readonly report: UnjudgedReport; readonly where: string }

/**
 * Gathers reports into batches and sends them one after the other, in order. While one batch is
 * being sent, the next is gathered.
 */
export function openOutbox(send: (batch: readonly Outgoing[]) => Promise<void>): {
  /** Rejects with the reason why an earlier batch could not be sent. */
  add(outgoing: Outgoing): Promise<void>
  /** Resolves once everything has been sent. */
  flush(): Promise<void>
} {
  let batch: Outgoing[] = []
  let bytes = WRAPPING_BYTES
  let sending = Promise.resolve()

  async function sendBatch(): Promise<void> {
    await sending
    const full = batch
    batch = []
    bytes = WRAPPING_BYTES
    sending = send(full)
    // The next batch, or the end, rejects with this error.
    sending.catch(() => undefined)
  }

  return {
    async add(outgoing) {
      const size = Buffer.byteLength(JSON.stringify(outgoing.report))
      if (batch.length === MOST_REPORTS || bytes + size > MOST_BYTES) await sendBatch()
      batch.push(outgoing)
      bytes += size
    },
    async flush() {
      if (batch.length > 0) await sendBatch()
      await sending
    },
  }
}
