import type { LiveFeed } from './live-feed.ts'
import type { RingEntry } from './ring.ts'

type Wake = () => void

/**
 * Readers that wait for entries of their accounts. Each new entry is read a single time for all of them and wakes
 * only the readers of its own account; a gap wakes all.
 */
export function accountWaits(feed: Pick<LiveFeed, 'ring' | 'listen'>) {
  const waiting = new Map<string, Set<Wake>>()
  let lookedUpTo = 0
  let stopListening: (() => void) | undefined

  function look(): void {
    const { ring } = feed
    for (let number = Math.max(lookedUpTo, ring.first); number < ring.end; number += 1) {
      const entry = ring.at(number)
      const own = entry === undefined ? 'all' : accountOf(entry)
      if (own === 'all') for (const wakes of [...waiting.values()]) wakeAll(wakes)
      else if (own !== undefined) wakeAll(waiting.get(own))
    }
    lookedUpTo = ring.end
  }

  function remove(accountId: string, wake: Wake): void {
    const wakes = waiting.get(accountId)
    wakes?.delete(wake)
    if (wakes?.size === 0) waiting.delete(accountId)
    if (waiting.size > 0) return
    stopListening?.()
    stopListening = undefined
  }

  /** Whether the ring has something for this account from a number on. */
  function isThere(accountId: string, from: number): boolean {
    const { ring } = feed
    if (from < ring.first) return true
    for (let number = from; number < ring.end; number += 1) {
      const entry = ring.at(number)
      const own = entry === undefined ? 'all' : accountOf(entry)
      if (own === 'all' || own === accountId) return true
    }
    return false
  }

  return {
    /** Resolves when the ring has an entry of the account, or a gap, from this number on, or the wait is over. */
    async until(
      { accountId, from }: { readonly accountId: string; readonly from: number },
      { forMs, signal }: { readonly forMs: number; readonly signal: AbortSignal },
    ): Promise<void> {
      if (signal.aborted || isThere(accountId, from)) return
      await new Promise<void>((resolve) => {
        if (stopListening === undefined) {
          lookedUpTo = feed.ring.end
          stopListening = feed.listen(look)
        }
        const wakes = waiting.get(accountId) ?? new Set()
        waiting.set(accountId, wakes.add(done))
        const timer = setTimeout(done, forMs)
        signal.addEventListener('abort', done)
        function done(): void {
          remove(accountId, done)
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    },
  }
}

function wakeAll(wakes: ReadonlySet<Wake> | undefined): void {
  for (const wake of [...(wakes ?? [])]) wake()
}

/** The account that an entry is about; undefined: none that readers wait for. */
function accountOf(entry: RingEntry): string | undefined {
  switch (entry.kind) {
    case 'position':
    case 'fact':
    case 'erasure':
      return entry.event.accountId
    case 'gap':
      return 'all'
    case 'aside':
    case 'erased':
      return undefined
  }
}
