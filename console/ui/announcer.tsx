import { signal } from '@preact/signals'
import { Toasts } from './toasts.tsx'

/** Changes are announced to screen readers at most this often, always the newest one. */
const ANNOUNCED_EVERY_MS = 5_000

const spoken = signal('')

let waiting: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/** Announces something to screen readers without showing it. */
export function announce(text: string): void {
  if (timer !== undefined) {
    waiting = text
    return
  }
  spoken.value = text
  timer = setTimeout(() => {
    timer = undefined
    if (waiting !== undefined) announce(waiting)
    waiting = undefined
  }, ANNOUNCED_EVERY_MS)
}

/**
 * The announcements of the page, and again of each open dialog, which makes everything outside it
 * inert: nothing is announced there.
 */
export function Announcer() {
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </div>
      <Toasts />
    </>
  )
}
