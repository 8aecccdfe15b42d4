import { setTimeout as wait } from 'node:timers/promises'

/** Growing pauses between the tries of something that failed. */
export type BackOff = {
  /** Waits; returns at once when `signal` is aborted. */
  pause(signal?: AbortSignal): Promise<void>
  /** It worked: the next pause is a short one again. */
  reset(): void
}

/** Each pause is twice as long as the one before, with jitter, so that many do not try in step. */
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
