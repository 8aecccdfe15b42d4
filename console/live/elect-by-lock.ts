import type { Election } from './elect.ts'

/**
 * One of several tabs leads: the one that holds a lock, which the browser hands on when the tab
 * leaves or goes.
 */
export function electByLock({
  name,
  onLead,
  onStepDown,
}: {
  readonly name: string
  readonly onLead: () => void
  readonly onStepDown: () => void
}): Election {
  const leaving = new AbortController()
  const { signal } = leaving
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  let isLeading = false
  const lead = async () => {
    if (signal.aborted) return
    isLeading = true
    onLead()
    await left
  }
  // It fails only where the tab has given up waiting.
  navigator.locks.request(name, { signal }, lead).catch(() => undefined)

  return {
    hear: () => undefined,
    leave() {
      leaving.abort()
      if (isLeading) onStepDown()
      isLeading = false
    },
  }
}
