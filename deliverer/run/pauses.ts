import { setTimeout as wait } from 'node:timers/promises'

/** Waits, or returns earlier when `signal` is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

export const realPause: Pause = async (ms, signal) => {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
