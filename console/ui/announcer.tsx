import { signal } from '@preact/signals'
import { CircleCheck, X } from 'lucide'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

/** Changes are announced to screen readers at most this often, always the newest one. */
const ANNOUNCED_EVERY_MS = 5_000
const SHOWN_MS = 6_000

const spoken = signal('')
const toasts = signal<readonly { readonly id: number; readonly text: string }[]>([])

let waiting: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let made = 0

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

/** Shows for a few seconds that something has been done. */
export function toast(text: string): void {
  made += 1
  const id = made
  toasts.value = [...toasts.value.slice(-2), { id, text }]
  setTimeout(() => dismiss(id), SHOWN_MS)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

/**
 * The announcements in an open dialog, which makes everything outside it inert: nothing is
 * announced there.
 */
export function Spoken() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {[spoken.value, ...toasts.value.map(({ text }) => text)].join(' ')}
    </div>
  )
}

export function Announcer() {
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </div>
      <div class="toasts stack near" role="status" aria-live="polite">
        {toasts.value.map(({ id, text }) => (
          <p key={id} class="toast raised">
            <Icon of={CircleCheck} />
            <span>{text}</span>
            <IconButton icon={X} label="Dismiss" small class="plain" onClick={() => dismiss(id)} />
          </p>
        ))}
      </div>
    </>
  )
}
