import type { UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'

/** The limits of the service for one request. */
const MOST_REPORTS = 1_000
const MOST_BYTES = 1024 * 1024
/** `{"reports":[]}`, and more than a comma for each report. */
const WRAPPING_BYTES = 2_048

export type Outgoing = { readonly report: UnjudgedReport; readonly where: string }

/**
 * Gathers reports into batches and sends them one after the other, in order. While one is on its way,
 * the next is gathered.
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
    // The next batch, or the end, rejects with it.
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
