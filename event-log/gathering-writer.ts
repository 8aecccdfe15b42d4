import { callAtEndOfTurn } from '../runtime/end-of-turn.ts'
import { DependencyError } from '../runtime/errors.ts'
import { CallQueue, type Call, type QueueLimits } from './call-queue.ts'

/** Gathers concurrent writes into batches, with one batch outstanding at a time. */
export type GatheringWriter<Item> = {
  /**
   * Resolves once the batch with these items is written. The items of one call stay together. Calls
   * keep their order, except that small ones may overtake large ones: see `QueueLimits`. `bytes`:
   * approximate size when written. `deadlineMs`: this caller's deadline, if shorter than the
   * default.
   * @throws {DependencyError} retriable: overloaded, closing, or not written before the deadline;
   * or the rejection of `writeBatch`.
   */
  write(items: readonly Item[], bytes: number, deadlineMs?: number): Promise<void>

  /** Rejects new writes; resolves once every earlier one has settled. */
  close(): Promise<void>
}

export type GatheringWriterOptions<Item> = Partial<QueueLimits<Item>> & {
  /** Writes one batch, atomically and durably. Never called while an earlier call is pending. */
  readonly writeBatch: (items: readonly Item[]) => Promise<void>
  /**
   * This many waiting calls start a batch before the event-loop turn ends: a turn can bring a
   * thousand requests, and unanswered they take more memory than a processor's cache has. It is
   * less than one account may have in flight (`InFlight`): a turn does not end while refused
   * senders immediately send again.
   */
  readonly promptCalls?: number
  /**
   * Minimum time between the starts of two batches under load. Even a small batch costs both ends
   * something.
   */
  readonly restMs?: number
  /** Limits the queue behind the outstanding batch; further calls are rejected immediately. */
  readonly room?: WaitingRoom
  /**
   * How long a caller waits at most. A call still queued then is dropped; one in the outstanding
   * batch may still be written, and no other batch starts before that batch settles.
   */
  readonly deadlineMs?: number
}

/** Limits the queue of one writer, or of several together. */
export type WaitingRoom = {
  /** Reserves room; false if there is none. */
  enter(items: number, bytes: number): boolean
  leave(items: number, bytes: number): void
}

export function waitingRoom({
  maxItems = 10_000,
  maxBytes = 32 * 1024 * 1024,
}: { maxItems?: number; maxBytes?: number } = {}): WaitingRoom {
  let waitingItems = 0
  let waitingBytes = 0
  return {
    enter(items, bytes) {
      const full = waitingItems + items > maxItems || waitingBytes + bytes > maxBytes
      // An oversized call is accepted when nothing else waits; otherwise retrying it could never
      // succeed.
      if (full && waitingItems > 0) return false
      waitingItems += items
      waitingBytes += bytes
      return true
    },
    leave(items, bytes) {
      waitingItems -= items
      waitingBytes -= bytes
    },
  }
}

/**
 * From this many calls on, a batch counts as load. Fewer callers all wait for this batch, so
 * resting gains nothing.
 */
const CROWD = 4

/**
 * A batch starts at the end of the event-loop turn in which items arrived, the previous batch
 * settled or its rest ended, or in the middle of a turn once `promptCalls` wait. So requests of one
 * turn share a batch, batches grow while a write is slow, and an idle service adds no delay.
 */
export function gatheringWriter<Item>({
  writeBatch,
  maxBatchItems = 500,
  maxBatchBytes = 512 * 1024,
  fewItems = 100,
  keyOf,
  promptCalls = 112,
  restMs = 3,
  room = waitingRoom(),
  deadlineMs,
}: GatheringWriterOptions<Item>): GatheringWriter<Item> {
  const queue = new CallQueue<Item>({ maxBatchItems, maxBatchBytes, fewItems, keyOf })
  let unanswered = 0
  let unschedule: (() => void) | undefined
  let resting: NodeJS.Timeout | undefined
  /** On the clock of `performance.now()`. */
  let restsUntil = 0
  let outstanding = false
  let closed = false
  let drained: (() => void) | undefined

  return {
    write(items, bytes, withinMs = deadlineMs) {
      if (closed) return Promise.reject(unavailableError('the event log is closing'))
      if (items.length === 0) return Promise.resolve()
      if (!room.enter(items.length, bytes)) {
        return Promise.reject(unavailableError('the event log is overloaded'))
      }
      return new Promise((resolve, reject) => {
        const call: Call<Item> = {
          items,
          bytes,
          resolve,
          reject,
          timer: undefined,
          state: 'queued',
        }
        if (withinMs !== undefined) call.timer = setTimeout(expire, withinMs, call, withinMs)
        unanswered += 1
        queue.add(call)
        schedule()
        if (!outstanding && queue.length >= promptCalls) startBatch()
      })
    },

    close() {
      closed = true
      return new Promise((resolve) => {
        const before = drained
        drained = () => {
          before?.()
          resolve()
        }
        if (unanswered === 0) drained()
      })
    },
  }

  function schedule() {
    if (outstanding || queue.length === 0) return
    if (unschedule !== undefined || resting !== undefined) return
    const leftMs = restsUntil - performance.now()
    // Timers have millisecond resolution.
    if (leftMs >= 1) resting = setTimeout(startAtEndOfTurn, leftMs)
    else startAtEndOfTurn()
  }

  function startAtEndOfTurn() {
    resting = undefined
    unschedule = callAtEndOfTurn(startBatch)
  }

  function startBatch() {
    unschedule?.()
    clearTimeout(resting)
    unschedule = resting = undefined
    outstanding = true
    const calls = queue.take()
    for (const call of calls) room.leave(call.items.length, call.bytes)
    if (calls.length >= CROWD) restsUntil = performance.now() + restMs
    const settle = (error?: unknown) => {
      for (const call of calls) answer(call, error)
      outstanding = false
      schedule()
    }
    // Every call may have reached its deadline since the turn started.
    if (calls.length === 0) settle()
    else callWriteBatch(calls).then(() => settle(), settle)
  }

  async function callWriteBatch(calls: readonly Call<Item>[]) {
    await writeBatch(calls[0]!.items.concat(...calls.slice(1).map(({ items }) => items)))
  }

  function expire(call: Call<Item>, withinMs: number) {
    const isQueued = call.state === 'queued'
    if (isQueued) room.leave(call.items.length, call.bytes)
    answer(call, unavailableError(`the event log did not write within ${withinMs} ms`))
    if (isQueued) queue.expire()
  }

  function answer(call: Call<Item>, error: unknown) {
    if (call.state === 'answered') return
    call.state = 'answered'
    unanswered -= 1
    clearTimeout(call.timer)
    if (error === undefined) call.resolve()
    else call.reject(error)
    if (unanswered === 0) drained?.()
  }
}

function unavailableError(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
