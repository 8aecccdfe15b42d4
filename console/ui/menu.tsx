import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Ellipsis } from 'lucide'
import { Icon } from './icon.tsx'
import { UnseenName } from './isolated.tsx'

const GAP_PIXELS = 6

/**
 * A button that opens a panel beside it. The browser closes the panel on Esc and on a click
 * elsewhere; `children` get its id, with which buttons in it close it (`popovertarget`).
 */
export function Menu({
  button,
  class: name,
  label,
  panel = 'stack',
  children,
}: {
  /** The content of the button. */
  button: ComponentChildren
  class?: string
  /** Names a button without visible words. */
  label?: string
  /** The class of the panel. */
  panel?: string
  children: (id: string) => ComponentChildren
}) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const opened = useRef<HTMLDivElement>(null)

  const placedAt = useRef(0)

  function placePanel({ newState }: { newState: string }) {
    if (newState !== 'open' || opener.current === null || opened.current === null) return
    const rectangle = opener.current.getBoundingClientRect()
    placedAt.current = rectangle.top
    placeBeside(opened.current, rectangle)
  }

  // Otherwise the panel would stay behind when its button scrolls away.
  useEffect(() => {
    const close = () => {
      const element = opened.current
      if (element?.matches(':popover-open') !== true) return
      const { top = 0 } = opener.current?.getBoundingClientRect() ?? {}
      if (Math.abs(top - placedAt.current) > 1) element.hidePopover()
    }
    document.addEventListener('scroll', close, { capture: true, passive: true })
    return () => document.removeEventListener('scroll', close, { capture: true })
  }, [])

  return (
    <>
      <button
        ref={opener}
        type="button"
        class={name}
        aria-label={label}
        title={label}
        popovertarget={id}
      >
        {button}
      </button>
      <div
        ref={opened}
        id={id}
        class={`menu floating ${panel}`}
        popover="auto"
        onBeforeToggle={placePanel}
      >
        {children(id)}
      </div>
    </>
  )
}

/**
 * Closes a menu when Tab leaves it: it would cover the focused element. Behind the last element of
 * the page the focus may go through the browser's own controls first.
 */
export function startMenus(): void {
  let left: HTMLElement | null = null
  document.addEventListener('focusout', ({ target }) => {
    left = target instanceof Element ? target.closest<HTMLElement>(':popover-open') : null
  })
  document.addEventListener('focusin', ({ target: next }) => {
    if (left?.matches(':popover-open') !== true || !(next instanceof Element)) return
    // A click on the opener closes the menu itself.
    if (left.contains(next) || next.matches(`[popovertarget="${left.id}"]`)) return
    left.hidePopover()
  })
}

export type MenuAction = {
  readonly word: string
  readonly run: () => void
  /** Whether it destroys something. */
  readonly isDangerous?: boolean
}

/** Actions on one thing. Screen readers announce its name with each. */
export function ActionMenu({
  of: nameOfThing,
  actions,
}: {
  of: string
  actions: readonly MenuAction[]
}) {
  const words = (
    <>
      <Icon of={Ellipsis} />
      <span class="unseen">Actions</span>
      <UnseenName>{nameOfThing}</UnseenName>
    </>
  )
  return (
    <Menu button={words} class="plain" panel="menu-links">
      {(id) =>
        actions.map(({ word, run, isDangerous = false }) => (
          <button
            key={word}
            type="button"
            class={isDangerous ? 'plain danger' : 'plain'}
            popovertarget={id}
            popovertargetaction="hide"
            onClick={run}
          >
            {word}
            <UnseenName>{nameOfThing}</UnseenName>
          </button>
        ))
      }
    </Menu>
  )
}

/** Below or above, on the side of the window with more room. */
function placeBeside({ style }: HTMLElement, { top, bottom, left, right }: DOMRect): void {
  const { clientWidth: width, clientHeight: height } = document.documentElement
  const isAbove = top + bottom > height
  const isAtEnd = left + right > width
  style.top = isAbove ? 'auto' : `${bottom + GAP_PIXELS}px`
  style.bottom = isAbove ? `${height - top + GAP_PIXELS}px` : 'auto'
  style.left = isAtEnd ? 'auto' : `${left}px`
  style.right = isAtEnd ? `${width - right}px` : 'auto'
  style.maxHeight = `${(isAbove ? top : height - bottom) - 2 * GAP_PIXELS}px`
}
