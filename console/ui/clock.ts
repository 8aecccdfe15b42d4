import { signal } from '@preact/signals'

/** The server's time, updated every second while the page is visible. */
export const now = signal(Date.now())

export function startClock(serverNow: () => number): void {
  const tick = () => {
    if (!document.hidden) now.value = serverNow()
  }
  tick()
  setInterval(tick, 1_000)
  document.addEventListener('visibilitychange', tick)
}
