import { parseOutcomes, type Later } from './answer.ts'
import { backOffMs } from './retry.ts'
import { BATCH } from './client.ts'
import { Journal, type JournalEntry } from './journal.ts'
import { lock } from './lock.ts'
import { post, type Target } from './post.ts'
import type { ReportOutcome, ReportRefusal, Report } from './report.ts'
import { realTiming, type Timing } from './timing.ts'

const MOST_IN_BATCH = 500
const MOST_BATCH_BYTES = 512 * 1024
const MOST_REPORT_BYTES = 16 * 1024
const LONGEST_BACK_OFF_MS = 60_000

export type OfflineQueue = {
  /** The number of reports not known to have arrived. */
  readonly size: number
  /**
   * Resolves once the report is on disk: from then on it will arrive, even after a crash. A report
   * without a timestamp gets the time of this call. Rejects if it cannot be written.
   */
  add(report: Report): Promise<void>
  /** Resolves once no reports are waiting. */
  drained(): Promise<void>
  /** Stops sending; the remaining reports stay in the file. */
  close(): Promise<void>
}

export type QueueOptions = Target & {
  readonly file: string
  /**
   * Called with a report that the service will never accept. The report leaves the queue only once the
   * promise resolves, so after a crash the call may be repeated.
   */
  readonly onRefused: (report: Report, refusal: ReportRefusal) => void | Promise<void>
  /** Called with the reason when sending has failed; the queue keeps trying. */
  readonly onTrouble?: ((reason: string) => void) | undefined
  readonly timing?: Timing | undefined
}

/**
 * A queue of reports in a file, sent in order and in batches until they arrive. The file belongs to
 * one process at a time, which also sends the reports that an earlier one left in it.
 * @throws if the file cannot be used.
 */
export async function openQueue(options: QueueOptions): Promise<OfflineQueue> {
  const { file, onRefused, onTrouble, timing = realTiming } = options
  const held = await lock(file, timing)
  const journal = await Journal.open(file).catch(async (error: unknown) => {
    await held.release()
    throw error
  })
  const alone = createSerialQueue()
  const closing = new AbortController()
  const { signal } = closing
  let adding: Adding[] = []
  /** Reports added, but not yet on disk. */
  let unwritten = 0
  let draining: Adding[] = []
  let most = MOST_IN_BATCH
  let wake = () => {}
  const sending = sendAll()

  return {
    get size() {
      return journal.size
    },
    add(report) {
      if (signal.aborted) return Promise.reject(new Error(CLOSED))
      const timestamp = report.timestamp ?? new Date(timing.now()).toISOString()
      const text = JSON.stringify({ ...report, timestamp })
      if (Buffer.byteLength(text) > MOST_REPORT_BYTES) {
        return Promise.reject(new RangeError('a report has at most 16 KiB'))
      }
      unwritten += 1
      return new Promise((done, failed) => {
        adding.push({ text, done, failed })
        alone(writeAdded).catch(failed)
      })
    },
    drained() {
      if (isDrained()) return Promise.resolve()
      if (signal.aborted) return Promise.reject(new Error(CLOSED))
      return new Promise((done, failed) => draining.push({ text: '', done, failed }))
    },
    async close() {
      closing.abort()
      wake()
      await sending
      await alone(() => journal.close())
      await held.release()
      draining.forEach(({ failed }) => failed(new Error(CLOSED)))
    },
  }

  /** Writes all reports added since the last write together. */
  async function writeAdded(): Promise<void> {
    const added = adding
    adding = []
    if (added.length === 0) return
    try {
      await journal.append(added.map(({ text }) => text))
      added.forEach(({ done }) => done())
    } catch (error) {
      added.forEach(({ failed }) => failed(error))
    } finally {
      unwritten -= added.length
      wake()
    }
  }

  function isDrained(): boolean {
    return journal.size === 0 && unwritten === 0
  }

  async function sendAll(): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const trouble = await sendNext().catch((error: unknown) => ({
        reason: String(error),
        retryAfterMs: undefined,
      }))
      if (trouble === undefined) {
        failures = 0
        continue
      }
      if (signal.aborted) return
      failures += 1
      onTrouble?.(trouble.reason)
      const { retryAfterMs } = trouble
      const jitter = timing.jitter()
      const longestMs = LONGEST_BACK_OFF_MS
      await timing.pause(backOffMs({ failures, retryAfterMs, longestMs, jitter }), signal)
    }
  }

  /** Sends the first waiting reports, or waits for one. */
  async function sendNext(): Promise<Trouble | undefined> {
    const entries = await alone(() => journal.first({ most, mostBytes: MOST_BATCH_BYTES }))
    if (entries.length === 0) {
      if (isDrained()) {
        draining.forEach(({ done }) => done())
        draining = []
      }
      await new Promise<void>((resolve) => {
        wake = resolve
        if (journal.size > 0 || signal.aborted) resolve()
      })
      return undefined
    }
    const body = `{"reports":[${entries.map(({ text }) => text).join(',')}]}`
    const attempt = await post(options, { path: BATCH, body, signal })
    if (!('status' in attempt)) return { reason: attempt.unanswered }
    const { status, error, message, retryAfterMs } = attempt
    const outcomes = parseOutcomes(attempt, entries.length)
    if (outcomes !== undefined) {
      most = Math.min(MOST_IN_BATCH, most * 2)
      return settle(entries, outcomes)
    }
    const isRefused = FOR_ITS_CONTENT.has(error)
    if (isRefused && entries.length === 1) {
      return settle(entries, [{ kind: 'refused', error, message }])
    }
    if (!isRefused && (status !== TOO_LARGE || entries.length === 1)) {
      return { reason: `${error}: ${message}`, retryAfterMs }
    }
    // One of the reports cannot even be read, or a proxy accepts less: smaller batches show which.
    most = Math.floor(entries.length / 2)
    return undefined
  }

  /**
   * Reports that may be accepted later go to the end of the queue, so that they block nothing else.
   */
  async function settle(
    entries: readonly JournalEntry[],
    outcomes: readonly (ReportOutcome | Later)[],
  ): Promise<Trouble | undefined> {
    const later = entries.filter((_, index) => outcomes[index]?.kind === 'later')
    const trouble = outcomes.find((outcome) => outcome.kind === 'later')
    const last = entries.at(-1)
    if (last === undefined || later.length === entries.length) return trouble
    for (const [index, { json }] of entries.entries()) {
      const outcome = outcomes[index]
      if (outcome?.kind !== 'refused') continue
      const { error, message } = outcome
      await onRefused(json as Report, { error, message })
    }
    await alone(async () => {
      if (later.length > 0) await journal.append(later.map(({ text }) => text))
      await journal.settle(entries.length, last)
    })
    return trouble
  }
}

type Adding = {
  readonly text: string
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

type Trouble = { readonly reason: string; readonly retryAfterMs?: number | undefined }

const CLOSED = 'the queue is closed'
/** Refusals of a whole batch because of its content. */
const FOR_ITS_CONTENT = new Set(['INVALID_PARAMS', 'PAYLOAD_TOO_LARGE'])
const TOO_LARGE = 413

function createSerialQueue(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const next = last.then(task)
    last = next.catch(() => undefined)
    return next
  }
}
