import { signal, computed } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { CircleAlert, CircleCheck, X } from 'lucide'
import { toFailure } from '../core/failure.ts'
import { Icon, IconButton } from './icon.tsx'

/** Minimum time between announcements; if more arrive, only the newest is announced. */
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

const SHOWN_MS = 6_000
/** Time to notice a mistake, and to reach the button by keyboard. */
const UNDO_SHOWN_MS = 20_000
const MOST = 3

type Toast = {
  readonly id: number
  readonly text: string
  readonly undo: (() => Promise<void>) | undefined
  readonly isFault: boolean
}

const toasts = signal<readonly Toast[]>([])
/** Where toasts can appear; the last one is used. */
const places = signal<readonly string[]>([])
let made = 0

/** Undoes the latest change while its toast is visible. */
export const undoLatest = computed<(() => void) | undefined>(() => {
  const one = toasts.value.findLast(({ undo }) => undo !== undefined)
  return one && (() => takeBack(one))
})

/** Briefly confirms an action; with `undo`, shows a button that reverts it. */
export function toast(
  text: string,
  { undo, isFault = false }: { undo?: (() => Promise<void>) | undefined; isFault?: boolean } = {},
): void {
  made += 1
  toasts.value = [...toasts.value.slice(1 - MOST), { id: made, text, undo, isFault }]
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

function takeBack({ id, undo }: Toast): void {
  dismiss(id)
  undo?.().then(
    () => toast('Undone'),
    (thrown: unknown) => {
      toast(`Could not undo: ${toFailure(thrown).message}`, { undo, isFault: true })
    },
  )
}

/**
 * Where toasts appear, at the end of the page and of each dialog: an open dialog makes everything
 * outside it inert, so the toasts are in the last dialog opened.
 */
function Toasts() {
  const place = useId()
  const focusedBefore = useRef<HTMLElement | null>(null)
  useEffect(() => {
    places.value = [...places.peek(), place]
    return () => (places.value = places.peek().filter((one) => one !== place))
  }, [place])
  const shown = places.value.at(-1) === place ? toasts.value : []

  /** Returns the focus to where it was before it moved here. */
  function leave(work: () => void) {
    const before = focusedBefore.current
    work()
    if (before?.isConnected === true) before.focus()
  }

  return (
    <div
      class="toasts stack near"
      role="status"
      aria-live="polite"
      onFocusIn={({ currentTarget, relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
        if (!isInside) focusedBefore.current = relatedTarget as HTMLElement | null
      }}
    >
      {shown.map((one) => (
        <ToastLine key={one.id} of={one} leave={leave} />
      ))}
    </div>
  )
}

/** Stays while the pointer is over it, or while it has the focus. */
function ToastLine({ of: one, leave }: { of: Toast; leave: (work: () => void) => void }) {
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const end = () => {
      if (line.current?.matches(':hover, :focus-within') !== true) return dismiss(one.id)
      timer = setTimeout(end, SHOWN_MS)
    }
    let timer = setTimeout(end, one.undo === undefined ? SHOWN_MS : UNDO_SHOWN_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div ref={line} class={one.isFault ? 'toast floating bad' : 'toast floating'}>
      <Icon of={one.isFault ? CircleAlert : CircleCheck} />
      <p>{one.text}</p>
      {one.undo !== undefined && (
        <button type="button" class="small" onClick={() => leave(() => takeBack(one))}>
          Undo
        </button>
      )}
      <IconButton
        icon={X}
        label="Dismiss"
        small
        class="plain"
        onClick={() => leave(() => dismiss(one.id))}
      />
    </div>
  )
}
