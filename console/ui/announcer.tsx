import { signal } from '@preact/signals'
import { Toasts } from './toasts.tsx'

/** The minimum time between announcements; of those in between, the newest is announced. */
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
 * The announcements of the page, repeated in each open dialog: a dialog makes everything outside it
 * inert, so nothing is announced there.
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
