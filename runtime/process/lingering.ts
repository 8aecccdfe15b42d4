/**
 * Resources shared by concurrent users, by key; each closes some time after its last user has left.
 */
export type Lingering<Opened> = {
  /** Opens it for the first user. `leave` must be called once. */
  join(key?: string): { readonly opened: Opened; readonly leave: () => void }
  /** The thing, if it is open. */
  at(key?: string): Opened | undefined
}

type Kept<Opened> = {
  readonly opened: Opened
  readonly ending: AbortController
  users: number
  leaving?: NodeJS.Timeout
}

export function createLingering<Opened>({
  open,
  lingersMs,
  stopping,
}: {
  /** `signal` is aborted when it ends. */
  open: (signal: AbortSignal, key: string) => Opened
  lingersMs: number
  /** Ends all, even while they are used. */
  stopping: AbortSignal
}): Lingering<Opened> {
  const kept = new Map<string, Kept<Opened>>()
  stopping.addEventListener('abort', () => {
    for (const key of [...kept.keys()]) close(key)
  })

  function close(key: string): void {
    clearTimeout(kept.get(key)?.leaving)
    kept.get(key)?.ending.abort()
    kept.delete(key)
  }

  function begin(key: string): Kept<Opened> {
    const ending = new AbortController()
    const one = { opened: open(ending.signal, key), ending, users: 0 }
    kept.set(key, one)
    return one
  }

  return {
    join(key = '') {
      const one = kept.get(key) ?? begin(key)
      clearTimeout(one.leaving)
      one.users += 1
      return {
        opened: one.opened,
        leave() {
          one.users -= 1
          if (one.users > 0 || kept.get(key) !== one) return
          one.leaving = setTimeout(close, lingersMs, key).unref()
        },
      }
    },

    at: (key = '') => kept.get(key)?.opened,
  }
}
