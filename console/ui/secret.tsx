import type { ComponentChildren } from 'preact'
import { KeyRound } from 'lucide'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

/** A secret that is shown only this once. `what` names it: "API key". */
export function Secret({ text, what = 'API key' }: { text: string; what?: string }) {
  return (
    <div class="secret row">
      <textarea
        readOnly
        rows={1}
        spellcheck={false}
        aria-label={what}
        onFocus={({ currentTarget }) => currentTarget.select()}
      >
        {text}
      </textarea>
      <CopyButton text={text} what={what} />
    </div>
  )
}

/** A dialog with a secret that is shown only this once; `children` are below it. */
export function KeepSecret({
  title,
  notice,
  text,
  what,
  onClose,
  children,
}: {
  title: string
  notice: ComponentChildren
  text: string
  what?: string
  onClose: () => void
  children?: ComponentChildren
}) {
  return (
    <Dialog title={title}>
      <div class="notice warn row">
        <Icon of={KeyRound} />
        <p>{notice}</p>
      </div>
      <Secret text={text} {...(what !== undefined && { what })} />
      {children}
      <div class="row">
        <button type="button" class="primary" onClick={onClose}>
          I’ve saved it
        </button>
      </div>
    </Dialog>
  )
}

/** How long a replaced secret remains valid, in seconds. */
export const GRACES = [
  ['0', 'Not at all'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const
