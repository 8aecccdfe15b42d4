import { heartbeatFrame } from './sse.ts'

/** How a reader waits: for a ring, its end, or the next heartbeat, whichever comes first. */
export type Pulse = {
  /** Announces new work. A ring without a waiter is kept for the next one. */
  ring(): void
  /** Resolves at the next ring. */
  heard(): Promise<void>
  /** A heartbeat, if due. */
  beat(): string | undefined
  /** A heartbeat, due or not. */
  beatNow(): string
  /**
   * The promise's result; heartbeats meanwhile. Returns undefined, without waiting, when the reader
   * has ended or `enough` becomes true first.
   */
  meanwhile<T>(work: Promise<T>, enough?: () => boolean): AsyncGenerator<string, T | undefined>
}

export function startPulse({
  heartbeatMs,
  mark,
  signal,
}: {
  heartbeatMs: number
  /** The reader's place, once it has one. */
  mark: () => string | undefined
  signal: AbortSignal
}): Pulse {
  let rung = false
  let due = false
  let wake: (() => void) | undefined
  const timer = setInterval(() => {
    due = true
    ring()
  }, heartbeatMs)
  timer.unref()
  if (signal.aborted) clearInterval(timer)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    ring()
  })

  return { ring, heard, beat, beatNow: () => heartbeatFrame(mark()), meanwhile }

  function ring(): void {
    rung = true
    wake?.()
  }

  async function heard(): Promise<void> {
    if (!rung) await new Promise<void>((resolve) => (wake = resolve))
    rung = false
    wake = undefined
  }

  function beat(): string | undefined {
    if (!due) return undefined
    due = false
    return heartbeatFrame(mark())
  }

  async function* meanwhile<T>(
    work: Promise<T>,
    enough: () => boolean = () => false,
  ): AsyncGenerator<string, T | undefined> {
    let settled = false
    const settle = () => {
      settled = true
      ring()
    }
    work.then(settle, settle)
    while (!settled && !signal.aborted && !enough()) {
      await heard()
      const heartbeat = beat()
      if (heartbeat !== undefined) yield heartbeat
    }
    return settled ? work : undefined
  }
}
