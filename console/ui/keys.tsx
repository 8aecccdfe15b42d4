import { signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

/**
 * What keys do, by `KeyboardEvent.key`. Keys with the same words share a line of the help. The key
 * then does nothing else in the browser.
 */
export type Keys = Readonly<
  Record<string, { readonly does: string; readonly run: (event: KeyboardEvent) => void }>
>

/** The part of a page in which the focus must be. */
type Part = { readonly title: string; readonly element: RefObject<Element | null> }

const registered = new Set<{ keys: Keys; readonly part: Part | undefined }>()
export const helpIsOpen = signal(false)

/**
 * Handles keys as long as the component is there, and lists them in the help: in `part` of the page
 * only, or everywhere, except where the operator types.
 */
export function useKeys(keys: Keys, part?: Part): void {
  const entry = useRef({ keys, part }).current
  entry.keys = keys
  useEffect(() => {
    registered.add(entry)
    return () => registered.delete(entry)
  }, [])
}

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const found = actionOf(event)
    if (found === undefined) return
    event.preventDefault()
    found.run(event)
  })
}

/** The action of the innermost part that has one for the key. */
function actionOf({ key, target }: KeyboardEvent): Keys[string] | undefined {
  if (!(target instanceof Element)) return undefined
  const within = (node: Element | undefined) =>
    [...registered].findLast(({ keys, part }) => part?.element.current === node && key in keys)
  for (let node: Element | null = target; node !== null; node = node.parentElement) {
    const found = within(node)
    if (found !== undefined) return found.keys[key]
  }
  const isForBrowser =
    isTyping(target) ||
    document.querySelector('dialog[open]') !== null ||
    (key === 'Escape' && document.querySelector('[popover="auto"]:popover-open') !== null)
  return isForBrowser ? undefined : within(undefined)?.keys[key]
}

/** The list of the keys that work on the page. */
export function KeyHelp() {
  useKeys({ '?': { does: 'Shows this list', run: () => (helpIsOpen.value = true) } })
  if (!helpIsOpen.value) return null
  const parts = new Map<string, Map<string, string[]>>()
  for (const { keys, part } of registered) {
    const title = part?.title ?? EVERYWHERE
    const lines = parts.get(title) ?? new Map<string, string[]>()
    parts.set(title, lines)
    for (const [key, { does }] of Object.entries(keys)) {
      lines.set(does, [...(lines.get(does) ?? []), NAMES[key] ?? key])
    }
  }
  return (
    <Dialog title="Keyboard" onClose={() => (helpIsOpen.value = false)}>
      {[...parts].map(([title, lines]) => (
        <section key={title} class="stack near" aria-label={title}>
          <h3>{title}</h3>
          <dl class="facts stack near">
            {[...lines].map(([does, keys]) => (
              <div key={does}>
                <dt class="row">
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="note">
        Tab goes from one part to the next, Enter presses what has the focus, Esc closes what is
        open.
      </p>
    </Dialog>
  )
}

const EVERYWHERE = 'On this page'

const NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  '-': '−',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  Escape: 'Esc',
  PageDown: 'Page Down',
  PageUp: 'Page Up',
}

function isTyping(target: Element): boolean {
  return (
    target.matches('textarea, select, input:not([type="checkbox"], [type="range"])') ||
    (target instanceof HTMLElement && target.isContentEditable)
  )
}
