import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { X } from 'lucide'
import { Announcer } from './announcements.tsx'
import { IconButton } from './icon.tsx'

/**
 * A modal dialog, open as long as it is rendered. Esc and the close button call `onClose`; the
 * browser keeps the focus inside, and returns it afterwards.
 *
 * @param onClose absent if the dialog must be answered.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose?: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  // A layout effect: if one dialog replaces another, the first must return the focus beforehand.
  useLayoutEffect(() => {
    const element = dialog.current
    const giveFocusBack = rememberFocus()
    element?.showModal()
    return () => {
      element?.close()
      // Browsers leave the focus in a closed dialog until they paint.
      const { activeElement } = document
      if (activeElement instanceof HTMLElement && element?.contains(activeElement))
        activeElement.blur()
      giveFocusBack()
      // The focused element may be removed or disabled in this render; that is known two frames
      // later.
      requestAnimationFrame(() => requestAnimationFrame(giveFocusBack))
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="floating"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onClose={({ currentTarget }) => {
        // Browsers do not let a dialog trap anybody: after a few attempts, Esc closes it even
        // against `onCancel`.
        if (!currentTarget.isConnected) return
        if (onClose === undefined) currentTarget.showModal()
        else onClose()
      }}
    >
      <header class="row">
        <h2 id={heading}>{title}</h2>
        {onClose !== undefined && (
          <IconButton icon={X} label="Close" class="plain" onClick={onClose} />
        )}
      </header>
      <div class="dialog-body stack">{children}</div>
      <Announcer />
    </dialog>
  )
}

/**
 * Remembers the focused element. The returned function focuses it again, or the button of the menu
 * it was in, or else the page's heading: the element may no longer exist, and browsers then focus
 * nothing.
 */
function rememberFocus(): () => void {
  const { activeElement: before, body } = document
  const menu = before?.closest('[popover]')
  const places = [
    before,
    menu && document.querySelector(`[popovertarget="${menu.id}"]:not([popover] *)`),
    document.querySelector('h1'),
  ]
  return () => {
    for (const place of before === body ? [] : places) {
      if (document.activeElement !== body) return
      if (place instanceof HTMLElement || place instanceof SVGElement) place.focus()
    }
  }
}
