import { signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

/**
 * Actions by `KeyboardEvent.key`, labelled as a button would be. Keys with the same label share a
 * line of the help. The browser's default action is prevented.
 */
export type KeyActions = Readonly<
  Record<string, { readonly label: string; readonly run: (event: KeyboardEvent) => void }>
>

/** The part of a page that must have the focus. */
type PagePart = { readonly title: string; readonly element: RefObject<Element | null> }

const registered = new Set<{ keys: KeyActions; readonly part: PagePart | undefined }>()
export const helpIsOpen = signal(false)

/**
 * Handles keys while the component is rendered, and lists them in the help: in `part` of the page
 * only, or everywhere except where the operator types.
 */
export function useKeys(keys: KeyActions, part?: PagePart): void {
  const entry = useRef({ keys, part }).current
  entry.keys = keys
  // Before the next paint: a menu gets the focus at once, and so the next key.
  useLayoutEffect(() => {
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
function actionOf({ key, target }: KeyboardEvent): KeyActions[string] | undefined {
  if (!(target instanceof Element)) return undefined
  const findIn = (node: Element | undefined) =>
    [...registered].findLast(({ keys, part }) => part?.element.current === node && key in keys)
  for (let node: Element | null = target; node !== null; node = node.parentElement) {
    const found = findIn(node)
    if (found !== undefined) return found.keys[key]
  }
  const isForBrowser =
    isTyping(target) ||
    document.querySelector('dialog[open]') !== null ||
    (key === 'Escape' && document.querySelector('[popover="auto"]:popover-open') !== null)
  return isForBrowser ? undefined : findIn(undefined)?.keys[key]
}

/** Lists the keys that work on the page. */
export function KeyHelp() {
  useKeys({ '?': { label: 'Show this list', run: () => (helpIsOpen.value = true) } })
  if (!helpIsOpen.value) return null
  const parts = new Map<string, Map<string, string[]>>()
  for (const { keys, part } of registered) {
    // Such as the search in a menu that is closed.
    if (part?.element.current?.checkVisibility() === false) continue
    const title = part?.title ?? EVERYWHERE
    const lines = parts.get(title) ?? new Map<string, string[]>()
    parts.set(title, lines)
    for (const [key, { label }] of Object.entries(keys)) {
      lines.set(label, [...(lines.get(label) ?? []), NAMES[key] ?? key])
    }
  }
  return (
    <Dialog title="Keyboard" onClose={() => (helpIsOpen.value = false)}>
      {[...parts].map(([title, lines]) => (
        <section key={title} class="stack near" aria-label={title}>
          <h3>{title}</h3>
          <dl class="facts stack near">
            {[...lines].map(([label, keys]) => (
              <div key={label}>
                <dt class="row">
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="note">
        Tab moves to the next control, Enter activates it, Esc closes a dialog or menu.
      </p>
    </Dialog>
  )
}

const EVERYWHERE = 'Anywhere on the page'

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
