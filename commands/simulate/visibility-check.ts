import { readAnswer, type ServiceAnswer } from '../../client/answer.ts'
import type { Timing } from '../../client/timing.ts'
import { SampledPercentiles } from './percentiles.ts'
import type { KeptConnections } from './kept-connections.ts'

export type Visibility = {
  /** Milliseconds from the 200 until the record could be read. */
  readonly readableMs: SampledPercentiles
  readonly missing: number
  /** Number of records not yet found when the run was aborted. */
  readonly unchecked: number
  /** The reason why reading was rejected, which ended the checks. */
  readonly refusedBecause?: string
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

/**
 * Polls for acknowledged records until they can be read. A record counts as missing if a request
 * `deadlineMs` or more after the 200 does not return it. The pause between requests is a quarter of
 * the time elapsed, so a measured time is at most a quarter too long.
 */
export class VisibilityCheck {
  readonly #readRecord: ReadRecord
  readonly #timing: Timing
  readonly #cut: AbortSignal
  readonly #deadlineMs: number
  readonly #readableMs = new SampledPercentiles()
  readonly #watched = new Set<Promise<void>>()
  #missing = 0
  #unchecked = 0
  #refusedBecause: string | undefined

  constructor({
    readRecord,
    timing,
    cut,
    deadlineMs = 10_000,
  }: {
    readRecord: ReadRecord
    timing: Timing
    cut: AbortSignal
    deadlineMs?: number
  }) {
    this.#readRecord = readRecord
    this.#timing = timing
    this.#cut = cut
    this.#deadlineMs = deadlineMs
  }

  /** Starts polling for a record that has just been acknowledged. */
  watch(recordId: string): void {
    const watched = this.#untilReadable(recordId, this.#timing.now()).finally(() =>
      this.#watched.delete(watched),
    )
    this.#watched.add(watched)
  }

  /** Resolves when all polling has ended. */
  async result(): Promise<Visibility> {
    await Promise.all(this.#watched)
    return {
      readableMs: this.#readableMs,
      missing: this.#missing,
      unchecked: this.#unchecked,
      ...(this.#refusedBecause !== undefined && { refusedBecause: this.#refusedBecause }),
    }
  }

  async #untilReadable(recordId: string, acknowledgedAt: number): Promise<void> {
    for (;;) {
      if (this.#cut.aborted || this.#refusedBecause !== undefined) {
        this.#unchecked += 1
        return
      }
      const askedAt = this.#timing.now()
      const answer = await this.#ask(recordId)
      const elapsedMs = this.#timing.now() - acknowledgedAt
      if (answer?.status === 200) return this.#readableMs.add(elapsedMs)
      if (answer?.status === 401 || answer?.status === 403) this.#refusedBecause = answer.error
      else if (askedAt - acknowledgedAt >= this.#deadlineMs) {
        if (!this.#cut.aborted) this.#missing += 1
        else this.#unchecked += 1
        return
      } else await this.#timing.pause(pauseMs(elapsedMs), this.#cut)
    }
  }

  /** Undefined without a response, which is retried like a 404. */
  async #ask(recordId: string): Promise<ServiceAnswer | undefined> {
    try {
      return await this.#readRecord(recordId)
    } catch {
      return undefined
    }
  }
}

function pauseMs(elapsedMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, elapsedMs / 4))
}

/** Rejects if there is no response. */
export type ReadRecord = (recordId: string) => Promise<ServiceAnswer>

/** Reads records from the admin API. */
export function readRecords({
  adminUrl,
  readKey,
  fetch,
}: { adminUrl: URL; readKey: string } & Pick<KeptConnections, 'fetch'>): ReadRecord {
  const base = `${adminUrl.origin}${adminUrl.pathname.replace(/\/+$/, '')}/api/v1/positions`
  return async (recordId) =>
    readAnswer(
      await fetch(`${base}/${encodeURIComponent(recordId)}`, {
        headers: { authorization: `Bearer ${readKey}` },
      }),
    )
}
