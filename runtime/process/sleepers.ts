/** Log readers that wait for new entries, or until a failure has passed. */
export type Sleepers = {
  /** Resolves after `ms`, or immediately when `signal` is aborted or all are woken. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  wakeAll(): void
}

export function sleepers(): Sleepers {
  const asleep = new Set<() => void>()
  return {
    sleep(ms, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          asleep.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        signal.addEventListener('abort', wake)
        asleep.add(wake)
      })
    },

    wakeAll() {
      for (const wake of [...asleep]) wake()
    },
  }
}
