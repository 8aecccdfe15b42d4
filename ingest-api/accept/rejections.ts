import { randomBytes } from 'node:crypto'
import type { Topic } from '../../event-log/topic.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { RepeatedLines } from '../../runtime/process/repeated-lines.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { RejectionError, ReportRejected } from '../../schemas/events/report-rejected.ts'
import type { ApiKey } from '../../store/keys.ts'
import { rejectedContentOf, type Received } from './rejected-content.ts'

/** Refusals stored individually, per key and second; the rest are only counted. */
const KEPT_PER_SECOND = 20
/** Limit for all keys together, which bounds the cost of a flood from many keys. */
const KEPT_PER_SECOND_IN_ALL = 200
/** An account with a rejection in this period gets a share of that limit. */
const SHARES_MS = 60_000
/** Further rejections are dropped, so that an unavailable log cannot fill the memory. */
const QUEUED_EVENTS = 1_000
/** Delay before a count is written when a request waits for it, to include further refusals. */
const COUNTED_WITHIN_MS = 250
/** Maximum number of rejections per write, at most about 300 KiB. */
const APPENDED_AT_ONCE = 100

/** A rejected report of a known key, and the error sent to the client. */
export type RefusedReport = {
  readonly key: Pick<ApiKey, 'id' | 'accountId'>
  readonly error: RejectionError
  readonly message: string
  readonly received: Received
  /** Whether a request waits for the write. */
  readonly isAwaited?: boolean
}

type Queued = { readonly outcome: 'kept' | 'counted'; readonly event: ReportRejected }

/** A rejection handed to the queue; `written` resolves with whether it or its count was written. */
export type Offered = { readonly written: Promise<boolean> }

/** Rejections written together: if one fails, the round fails. */
type Round = Offered & { readonly settle: (written: boolean | Promise<boolean>) => void }

/** A key's rejections in the current second. */
type KeyRefusals = {
  readonly accountId: string
  kept: number
  readonly counted: Map<RejectionError, Counted>
}
type Counted = { count: number; receivedAt: number; message: string }

type Dependencies = {
  readonly topic: Pick<Topic<ReportRejected>, 'append'>
  readonly clock: Clock
  readonly steadyClock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Writes rejections to their log in the background: no request waits, and rejections that cannot be
 * written are dropped. Memory use grows with the number of keys refused in a second, not with the
 * number of reports.
 */
export class RejectionQueue {
  #queue: Queued[] = []
  /** Settles with the entries of the queue. */
  #queuedRound = newRound()
  /** Settles with the counts that are not in the queue yet. */
  #countedRound = newRound()
  #due: NodeJS.Immediate | undefined
  #countsDue: NodeJS.Timeout | undefined
  #second = 0
  #keptInAll = 0
  /** Rejections stored in the current second, by account. */
  #keptBy = new Map<string, number>()
  /** Time of the last rejection, by account. */
  readonly #refusedAt = new Map<string, number>()
  /** Keyed by keyId. */
  #refusals = new Map<string, KeyRefusals>()
  #writing: Promise<void> | undefined
  readonly #warnings = new RepeatedLines({ now: () => this.#deps.steadyClock.now() })
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Queues a rejection, or counts it if the key or its account already has enough in this second.
   */
  offer({ key, error, message, received, isAwaited = false }: RefusedReport): Offered {
    if (isAwaited) this.#hasten()
    const receivedAt = this.#deps.clock.now()
    const now = this.#deps.steadyClock.now()
    if (this.#second !== toSecond(now)) this.#endSecond(now)
    const { id: keyId, accountId } = key
    let refused = this.#refusals.get(keyId)
    if (refused === undefined) {
      refused = { accountId, kept: 0, counted: new Map() }
      this.#refusals.set(keyId, refused)
    }
    this.#refusedAt.set(accountId, now)
    if (refused.kept < KEPT_PER_SECOND && this.#mayKeep(accountId)) {
      refused.kept += 1
      this.#keptInAll += 1
      this.#keptBy.set(accountId, (this.#keptBy.get(accountId) ?? 0) + 1)
      if (this.#queue.length >= QUEUED_EVENTS) return this.#drop(1)
      const refusal = { accountId, keyId, receivedAt, error, message, count: 1 }
      return this.#enqueue('kept', { ...refusal, ...rejectedContentOf(received) })
    }
    const counted = refused.counted.get(error)
    if (counted === undefined) refused.counted.set(error, { count: 1, receivedAt, message })
    else {
      counted.count += 1
      counted.receivedAt = receivedAt
      counted.message = message
    }
    return this.#countedRound
  }

  /**
   * Writes offered rejections without waiting for a flush: immediately, and counts within 250 ms.
   */
  #hasten(): void {
    if (this.#due === undefined) {
      this.#due = setImmediate(() => {
        this.#due = undefined
        this.#writeNext()
      })
    }
    this.#countsDue ??= setTimeout(() => {
      this.#countsDue = undefined
      this.#enqueueCounts()
      this.#writeNext()
    }, COUNTED_WITHIN_MS)
  }

  #writeNext(): void {
    if (this.#queue.length === 0) return
    this.#write().then(
      () => this.#writeNext(),
      () => undefined,
    )
  }

  /** Accounts have equal shares; one share stays free for the next account. */
  #mayKeep(accountId: string): boolean {
    if (this.#keptInAll >= KEPT_PER_SECOND_IN_ALL) return false
    const share = Math.floor(KEPT_PER_SECOND_IN_ALL / (this.#refusedAt.size + 1))
    return (this.#keptBy.get(accountId) ?? 0) < Math.max(1, share)
  }

  /** Writes the queue, and the counts of past seconds; never rejects. */
  async flush(): Promise<void> {
    const now = this.#deps.steadyClock.now()
    if (this.#second !== toSecond(now)) this.#endSecond(now)
    await this.#write()
  }

  /** Writes the queue and all counts, without waiting for the second to end. */
  async close(): Promise<void> {
    clearTimeout(this.#countsDue)
    this.#endSecond(this.#deps.steadyClock.now())
    await this.#writing
    await this.#write()
  }

  #endSecond(now: number): void {
    this.#second = toSecond(now)
    this.#keptInAll = 0
    this.#keptBy.clear()
    for (const [accountId, at] of this.#refusedAt) {
      if (now - at >= SHARES_MS) this.#refusedAt.delete(accountId)
    }
    this.#enqueueCounts()
    this.#refusals.clear()
  }

  #enqueueCounts(): void {
    const round = this.#countedRound
    this.#countedRound = newRound()
    let offered = NONE
    for (const [keyId, { accountId, counted }] of this.#refusals) {
      for (const [error, count] of counted) {
        const written = this.#enqueue('counted', { accountId, keyId, error, ...count })
        if (offered !== DROPPED) offered = written
      }
      counted.clear()
    }
    round.settle(offered.written)
  }

  #enqueue(outcome: Queued['outcome'], rejected: Omit<ReportRejected, 'rejectionId'>): Offered {
    if (this.#queue.length >= QUEUED_EVENTS) return this.#drop(rejected.count)
    const rejectionId = ulid(rejected.receivedAt, randomBytes(10))
    this.#queue.push({ outcome, event: { rejectionId, ...rejected } })
    return this.#queuedRound
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    const taken = this.#queue
    const round = this.#queuedRound
    this.#queue = []
    this.#queuedRound = newRound()
    let written = 0
    try {
      while (written < taken.length) {
        const some = taken.slice(written, written + APPENDED_AT_ONCE)
        await this.#deps.topic.append(some.map(({ event }) => event))
        for (const { outcome, event } of some) {
          this.#deps.metrics.rejections.inc({ outcome }, event.count)
        }
        written += some.length
      }
    } catch (error) {
      for (const { event } of taken.slice(written)) this.#drop(event.count)
      this.#warn(error)
    }
    round.settle(written === taken.length)
  }

  #drop(count: number): Offered {
    this.#deps.metrics.rejections.inc({ outcome: 'dropped' }, count)
    return DROPPED
  }

  #warn(error: unknown): void {
    if (this.#warnings.admit('dropped') === undefined) return
    this.#deps.logger.warn({ err: error }, 'rejections dropped: could not write to their topic')
  }
}

function toSecond(ms: number): number {
  return Math.floor(ms / 1_000)
}

const DROPPED: Offered = { written: Promise.resolve(false) }
const NONE: Offered = { written: Promise.resolve(true) }

/**
 * Flushes a queue while it is used, until the counts of its last second are written: no timer runs
 * without rejections.
 */
export function flushSoon(
  queue: Pick<RejectionQueue, 'offer' | 'flush'>,
  { everyMs, steadyClock }: { everyMs: number; steadyClock: Clock },
): Pick<RejectionQueue, 'offer'> {
  let due: NodeJS.Timeout | undefined
  let endsAt = -Infinity

  function start(): void {
    due ??= setTimeout(() => {
      due = undefined
      if (steadyClock.now() < endsAt) start()
      queue.flush().catch(() => undefined)
    }, everyMs).unref()
  }

  return {
    offer(refused) {
      endsAt = steadyClock.now() + 1_000 + everyMs
      start()
      return queue.offer(refused)
    },
  }
}

function newRound(): Round {
  let settle: Round['settle'] = () => undefined
  const written = new Promise<boolean>((resolve) => (settle = resolve))
  return { written, settle }
}
