import type { Election } from './elect.ts'

/**
 * One of several tabs leads: the tab that holds a lock, which the browser hands on when the tab
 * steps down or closes.
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
  // Rejects only if the tab has given up waiting.
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
