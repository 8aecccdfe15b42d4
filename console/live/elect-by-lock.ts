import type { Election } from './elect.ts'

/** A leader's heartbeats come every 15 s. */
const SILENT_MS = 45_000

/**
 * One of several tabs leads: the one that holds a lock, which the browser hands on when the tab
 * goes. A tab that the browser has put to sleep keeps the lock; then `check` takes it away.
 * @param heardAt when a leader was last heard of.
 */
export function electByLock({
  name,
  heardAt,
  onLead,
  onStepDown,
}: {
  readonly name: string
  readonly heardAt: () => number
  readonly onLead: () => void
  readonly onStepDown: () => void
}): Election {
  let isLeading = false
  let waiting = new AbortController()
  let release: () => void = () => undefined
  let hasLeft = false
  request({ steal: false })

  function request({ steal }: { steal: boolean }): void {
    waiting.abort()
    waiting = new AbortController()
    const options = steal ? { steal } : { signal: waiting.signal }
    const held = async () => {
      isLeading = true
      onLead()
      await new Promise<void>((resolve) => (release = resolve))
    }
    navigator.locks.request(name, options, held).catch((error: unknown) => {
      // Either this tab has given up waiting, or another one has taken the lock away.
      if (!isLeading || hasLeft) return error
      stepDown()
      request({ steal: false })
      return error
    })
  }

  function stepDown(): void {
    if (!isLeading) return
    isLeading = false
    onStepDown()
  }

  return {
    hear: () => undefined,
    check() {
      if (!isLeading && !hasLeft && Date.now() - heardAt() > SILENT_MS) request({ steal: true })
    },
    leave() {
      hasLeft = true
      waiting.abort()
      stepDown()
      release()
    },
  }
}
