import { signal } from '@preact/signals'
import { serverNow } from '../api/client.ts'

/** The server's time, updated every second while the page is visible. */
export const now = signal(serverNow())

export function startClock(): void {
  const tick = () => {
    if (!document.hidden) now.value = serverNow()
  }
  setInterval(tick, 1_000)
  document.addEventListener('visibilitychange', tick)
}
