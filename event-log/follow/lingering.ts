/** Something that several use at a time; it ends some time after the last of them has left. */
export type Lingering<Opened> = {
  /** Opens it for the first one. `leave`: to be called once. */
  join(): { readonly opened: Opened; readonly leave: () => void }
}

export function lingering<Opened>({
  open,
  lingersMs,
  stopping,
}: {
  open: (signal: AbortSignal) => Opened
  lingersMs: number
  /** Ends it, also while it is used. */
  stopping: AbortSignal
}): Lingering<Opened> {
  let current: { readonly opened: Opened; readonly ending: AbortController } | undefined
  let users = 0
  let leaving: NodeJS.Timeout | undefined
  stopping.addEventListener('abort', close)

  function close(): void {
    clearTimeout(leaving)
    current?.ending.abort()
    current = undefined
  }

  return {
    join() {
      clearTimeout(leaving)
      if (current === undefined) {
        const ending = new AbortController()
        current = { opened: open(ending.signal), ending }
      }
      users += 1
      return {
        opened: current.opened,
        leave() {
          users -= 1
          if (users === 0) leaving = setTimeout(close, lingersMs).unref()
        },
      }
    },
  }
}
