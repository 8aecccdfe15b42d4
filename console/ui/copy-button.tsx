import { useState } from 'preact/hooks'
import { Check, Copy } from 'lucide'
import { announce } from './announcer.tsx'
import { copyText } from './copy.ts'
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
