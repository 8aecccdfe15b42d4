import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { pageAddress } from './router.ts'

/** A page: its heading, its actions, its content. The heading gets the focus on arrival. */
export function Page({
  title,
  actions,
  wide = false,
  children,
}: {
  title: string
  actions?: ComponentChildren
  /** Tables need the width, text does not. */
  wide?: boolean
  children: ComponentChildren
}) {
  useTitle(title)
  return (
    <div class={wide ? 'page wide stack' : 'page stack'}>
      <header class="page-header row between">
        <h1 ref={arriveAt} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** For the heading of a page (`ref`): it gets the focus when it appears on arrival. */
export function arriveAt(heading: HTMLHeadingElement | null): void {
  if (heading === null) return
  // Back scrolls to the previous position instead.
  if (arrived !== undefined && arrived !== pageAddress.value.path)
    heading.focus({ preventScroll: true })
  arrived = pageAddress.value.path
}

/** Call when the focused form disappears: the first page's heading then gets the focus. */
export function expectArrival(): void {
  arrived ??= ''
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · GPS console`
  }, [title])
}

/** The path of the previous page: the first page leaves the focus where the browser put it. */
let arrived: string | undefined
