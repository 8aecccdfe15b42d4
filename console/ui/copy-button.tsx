import { useState } from 'preact/hooks'
import { Check, Copy } from 'lucide'
import { announce } from './announcements.tsx'
import { Icon } from './icon.tsx'

const TOLD_MS = 2_000

/** Copies `text`; `what` names it for screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready')
  function tell(copied: boolean) {
    setState(copied ? 'copied' : 'refused')
    announce(copied ? `${what} copied` : `${what} cannot be copied: select it`)
    setTimeout(() => setState('ready'), TOLD_MS)
  }
  function copy() {
    copyText(text).then(tell, () => tell(false))
  }
  const words = { ready: 'Copy', copied: 'Copied', refused: 'Select it' }[state]
  return (
    <button type="button" class="small" aria-label={`Copy ${what}`} onClick={copy}>
      <Icon of={state === 'copied' ? Check : Copy} small />
      <span>{words}</span>
    </button>
  )
}

/** Puts a text on the clipboard, also on plain HTTP, where browsers have no clipboard API. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelection(text)
  }
}

function copySelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  area.setAttribute('aria-hidden', 'true')
  // A modal dialog makes everything outside it inert.
  const host = focused?.closest('dialog') ?? document.body
  host.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
