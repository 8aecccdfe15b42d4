import { heartbeatFrame } from './sse.ts'

/** How a reader waits: for a ring, its own end, or the next heartbeat, whichever comes first. */
export type Pulse = {
  /** There may be more to do. A ring that nobody waits for is heard by the next who does. */
  ring(): void
  /** The next ring. */
  heard(): Promise<void>
  /** A heartbeat, where one is due. */
  beat(): string | undefined
  /** A heartbeat, due or not. */
  beatNow(): string
  /**
   * What the promise gives; heartbeats until then. Undefined when the reader has ended or `enough`
   * is true before: the promise is left alone then.
   */
  meanwhile<T>(work: Promise<T>, enough?: () => boolean): AsyncGenerator<string, T | undefined>
}

export function startPulse({
  heartbeatMs,
  mark,
  signal,
}: {
  heartbeatMs: number
  /** The reader's place, as far as it has one. */
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
