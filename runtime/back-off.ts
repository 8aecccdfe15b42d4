import { setTimeout as wait } from 'node:timers/promises'

/** Growing pauses between retries. */
export type BackOff = {
  /** Waits; returns at once when `signal` is aborted. */
  pause(signal?: AbortSignal): Promise<void>
  /** After a success: starts again with the first pause. */
  reset(): void
}

/** Doubles each pause, with jitter so that several clients do not retry in step. */
export function backOff({ firstMs, longestMs }: { firstMs: number; longestMs: number }): BackOff {
  let nextMs = firstMs
  return {
    async pause(signal) {
      const ms = nextMs * (0.5 + Math.random() / 2)
      nextMs = Math.min(2 * nextMs, longestMs)
      await wait(ms, undefined, { signal }).catch(() => undefined)
    },
    reset() {
      nextMs = firstMs
    },
  }
}
