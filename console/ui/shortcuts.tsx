import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

/** The shortcuts of a page, by `KeyboardEvent.key`. */
export type Shortcuts = Readonly<
  Record<string, { readonly does: string; readonly run?: () => void }>
>

const active = signal<readonly Shortcuts[]>([])
export const helpIsOpen = signal(false)

/** Handles the page's single-key shortcuts, except while the operator is typing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    active.value = [...active.peek(), shortcuts]
    return () => {
      active.value = active.peek().filter((one) => one !== shortcuts)
    }
  }, [shortcuts])
}

export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
    if (event.key === '?') {
      helpIsOpen.value = true
      return event.preventDefault()
    }
    const found = active.value.findLast((one) => one[event.key]?.run !== undefined)
    if (found === undefined) return
    event.preventDefault()
    found[event.key]?.run?.()
  })
}

export function ShortcutHelp() {
  if (!helpIsOpen.value) return null
  const everywhere: Shortcuts = { '?': { does: 'Shows this list' }, Esc: { does: 'Closes it' } }
  return (
    <Dialog title="Keyboard" onClose={() => (helpIsOpen.value = false)}>
      <dl class="facts stack near">
        {[...active.value, everywhere].flatMap((shortcuts) =>
          Object.entries(shortcuts).map(([key, { does }]) => (
            <div key={key}>
              <dt>
                <kbd>{key === ' ' ? 'Space' : key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          )),
        )}
      </dl>
    </Dialog>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
