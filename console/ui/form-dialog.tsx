import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toast } from './announcements.tsx'
import { Dialog } from './dialog.tsx'
import { Form, type Values } from './form.tsx'

/** The callbacks of a dialog: after a change, and when it is no longer needed. */
export type DialogProps = { readonly onDone: () => void; readonly onClose: () => void }

/**
 * A dialog with one form, also for confirmations. After `submit` it shows `done` and closes;
 * without `done` it stays open, because `submit` has something to show.
 */
export function FormDialog({
  title,
  submit,
  done,
  onDone,
  onClose,
  ...form
}: {
  title: string
  button: string
  danger?: boolean
  submit: (values: Values) => Promise<unknown>
  done?: string
  onDone?: () => void
  onClose: () => void
  children: ComponentChildren
}) {
  async function run(values: Values): Promise<void> {
    await submit(values)
    if (done !== undefined) toast(done)
    onDone?.()
    if (done !== undefined) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} submit={run} cancel={onClose} />
    </Dialog>
  )
}

type Render = (props: DialogProps) => ComponentChildren

/** The open dialog of a page: `open` shows one, `dialog` is rendered in the page. */
export function useDialog(onDone: () => void): {
  readonly dialog: ComponentChildren
  readonly open: (render: Render) => void
} {
  const [render, setRender] = useState<Render>()
  return {
    dialog: render?.({ onDone, onClose: () => setRender(undefined) }),
    open: (next) => setRender(() => next),
  }
}
