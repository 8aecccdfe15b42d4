import type { Offsets } from '../../schemas/devices/read-models.ts'
import { hasReached } from '../offsets.ts'
import type { LiveFeed } from './live-feed.ts'

type Patience = { readonly forMs: number; readonly signal: AbortSignal }

/** Resolves when the live reader has come this far, or the wait is over. */
export function untilRead(end: Offsets, feed: LiveFeed, patience: Patience) {
  return untilTrue(() => hasReached(feed.upTo, end), feed, patience)
}

async function untilTrue(
  isTrue: () => boolean,
  feed: LiveFeed,
  { forMs, signal }: Patience,
): Promise<void> {
  if (signal.aborted || isTrue()) return
  await new Promise<void>((resolve) => {
    const stopListening = feed.listen(() => {
      if (isTrue()) done()
    })
    const timer = setTimeout(done, forMs)
    signal.addEventListener('abort', done)
    function done(): void {
      stopListening()
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

/** Resolves when the work is done, or the signal is aborted. */
export async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await Promise.race([
    work,
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    }),
  ])
}
