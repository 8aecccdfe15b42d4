import { DependencyError } from '../runtime/errors.ts'

/** Gathers concurrent writes into batches and has exactly one batch outstanding. */
export type GatheringWriter<Item> = {
  /**
   * Resolves once the batch that holds these items is written. The items of one call stay together
   * and calls keep their order. `bytes` is what the items will about take when written; `deadlineMs`
   * is how long the caller waits at most where that is less than for others.
   * @throws {DependencyError} retriable: overloaded, closing, or not written before the deadline;
   * or whatever `writeBatch` rejected with.
   */
  write(items: readonly Item[], bytes: number, deadlineMs?: number): Promise<void>

  /** Refuses new writes; resolves once every earlier one has been answered. */
  close(): Promise<void>
}

export type GatheringWriterOptions<Item> = {
  /** Writes one batch, whole and durably. It is never called again before it has settled. */
  readonly writeBatch: (items: readonly Item[]) => Promise<void>
  /** A call that is larger than a batch by itself is written whole, in a batch of its own. */
  readonly maxBatchItems?: number
  readonly maxBatchBytes?: number
  /** What may wait besides the batch outstanding; beyond it calls are rejected at once. */
  readonly room?: WaitingRoom
  /**
   * How long a caller waits at most. A call that is still queued then is dropped; one that is in
   * the batch outstanding may be written all the same, and no other batch starts before that.
   */
  readonly deadlineMs?: number
}

/** Bounds what waits, in one writer or in several together. */
export type WaitingRoom = {
  /** False when there is no room. */
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
      // Alone it passes whatever its size, or no retry could ever help it.
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
 * A batch starts at the end of the event-loop turn in which something to write arrived or the batch
 * before it settled: requests of one turn share a batch, a slow write lets the next one grow, and
 * an idle service waits for nobody.
 */
export function gatheringWriter<Item>({
  writeBatch,
  maxBatchItems = 500,
  maxBatchBytes = 512 * 1024,
  room = waitingRoom(),
  deadlineMs,
}: GatheringWriterOptions<Item>): GatheringWriter<Item> {
  // Sets keep their order and give up any member at once: calls that are dropped at their deadline
  // must not pile up while the batch outstanding hangs.
  const queue = new Set<Call<Item>>()
  const unanswered = new Set<Call<Item>>()
  let busy = false
  let closed = false
  let drained: (() => void) | undefined

  return {
    write(items, bytes, withinMs = deadlineMs) {
      if (closed) return Promise.reject(unavailable('the event log is closing'))
      if (items.length === 0) return Promise.resolve()
      if (!room.enter(items.length, bytes)) {
        return Promise.reject(unavailable('the event log is overloaded'))
      }
      return new Promise((resolve, reject) => {
        const call: Call<Item> = { items, bytes, resolve, reject, timer: undefined }
        if (withinMs !== undefined) call.timer = setTimeout(expire, withinMs, call, withinMs)
        unanswered.add(call)
        queue.add(call)
        startBatch()
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
        if (unanswered.size === 0) drained()
      })
    },
  }

  function startBatch() {
    if (busy || queue.size === 0) return
    busy = true
    setImmediate(() => {
      const calls = takeBatch()
      const settle = (error?: unknown) => {
        for (const call of calls) answer(call, error)
        busy = false
        startBatch()
      }
      // Every call may have met its deadline since the turn began.
      if (calls.length === 0) settle()
      else callWriteBatch(calls).then(() => settle(), settle)
    })
  }

  async function callWriteBatch(calls: readonly Call<Item>[]) {
    await writeBatch(calls.length === 1 ? calls[0]!.items : calls.flatMap(({ items }) => items))
  }

  function takeBatch(): Call<Item>[] {
    const calls: Call<Item>[] = []
    let items = 0
    let bytes = 0
    for (const call of queue) {
      items += call.items.length
      bytes += call.bytes
      if (calls.length > 0 && (items > maxBatchItems || bytes > maxBatchBytes)) break
      dequeue(call)
      calls.push(call)
    }
    return calls
  }

  function dequeue(call: Call<Item>) {
    if (queue.delete(call)) room.leave(call.items.length, call.bytes)
  }

  function expire(call: Call<Item>, withinMs: number) {
    dequeue(call)
    answer(call, unavailable(`the event log did not write within ${withinMs} ms`))
  }

  function answer(call: Call<Item>, error: unknown) {
    if (!unanswered.delete(call)) return
    clearTimeout(call.timer)
    if (error === undefined) call.resolve()
    else call.reject(error)
    if (unanswered.size === 0) drained?.()
  }
}

type Call<Item> = {
  readonly items: readonly Item[]
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
}

function unavailable(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
