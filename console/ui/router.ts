import { effect, signal } from '@preact/signals'
import { addresses, addressOf } from '../core/address.ts'

/** The current address of the page, as in the address bar. */
export const pageAddress = signal(readPageAddress())

export type PageAddress = {
  readonly path: string
  readonly query: URLSearchParams
  readonly hash: string
}

function readPageAddress(): PageAddress {
  const { pathname, search, hash } = location
  return { path: addresses.pathAt(pathname) ?? pathname, query: new URLSearchParams(search), hash }
}

/**
 * The state in which each history entry was left, while the page lives; the browser stores the
 * entries' numbers.
 */
const entries = new Map<number, Map<string, number>>()
let entry = 0

function entryHere(): Map<string, number> {
  const known = entries.get(entry)
  if (known !== undefined) return known
  const made = new Map<string, number>()
  entries.set(entry, made)
  return made
}

/** Values stored for the current history entry, for when Back returns to it. */
export const historyState = {
  at: (name: string): number => entryHere().get(name) ?? 0,
  keep: (name: string, value: number): void => void entryHere().set(name, value),
}

export function startRouter(): void {
  const numberIn = (state: unknown) => (typeof state === 'number' ? state : 0)
  // Entries from before a reload have numbers, but no stored values.
  entry = numberIn(history.state)
  addEventListener('popstate', ({ state }) => {
    if (askBefore !== undefined) {
      // The browser has already left: return to the page until there is a reply.
      history.pushState(entry, '', addressOf(textOf(pageAddress.peek())))
      return askBefore(() => history.back())
    }
    entry = numberIn(state)
    pageAddress.value = readPageAddress()
    scrollTo(historyState.at('scroll'))
  })
  document.addEventListener('click', followLink)
  document.addEventListener('scroll', keepScroll, { capture: true, passive: true })
}

type Ask = (leave: () => void) => void
let askBefore: Ask | undefined

/**
 * Until the returned function is called, the page can be left only after `ask`, which receives the
 * continuation.
 */
export function holdPage(ask: Ask): () => void {
  const warn = (event: Event) => event.preventDefault()
  const release = () => {
    askBefore = undefined
    removeEventListener('beforeunload', warn)
  }
  askBefore = (leave) =>
    ask(() => {
      release()
      leave()
    })
  addEventListener('beforeunload', warn)
  return release
}

/** Goes to a path of the console, or to another query of this page. */
export function go(path: string, { replace = false }: { replace?: boolean } = {}): void {
  if (askBefore !== undefined && !replace) return askBefore(() => go(path))
  const to = path.startsWith('/') ? addressOf(path) : path
  if (replace) {
    history.replaceState(entry, '', to)
  } else {
    entry = Date.now()
    history.pushState(entry, '', to)
    scroller()?.scrollTo(0, 0)
  }
  pageAddress.value = readPageAddress()
}

const scroller = () => document.getElementById('content')

function keepScroll({ target }: Event): void {
  if (target === scroller() && !isReturning) historyState.keep('scroll', scroller()?.scrollTop ?? 0)
}

const RETURNS_MS = 3_000
let isReturning = false

/** The content may arrive later than the address: retries until there is enough to scroll. */
function scrollTo(top: number): void {
  const returnedTo = entry
  const until = performance.now() + RETURNS_MS
  const hasMoved = new AbortController()
  const move = () => hasMoved.abort()
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown']) {
    addEventListener(name, move, { signal: hasMoved.signal })
  }
  isReturning = true
  const step = () => {
    const element = scroller()
    if (element !== null) element.scrollTop = top
    const isDone = element !== null && Math.abs(element.scrollTop - top) <= 1 && top > 0
    const isOver = performance.now() > until || entry !== returnedTo || hasMoved.signal.aborted
    if (!isDone && !isOver && top > 0) return void requestAnimationFrame(step)
    hasMoved.abort()
    isReturning = false
  }
  requestAnimationFrame(step)
}

/** Sets parameters of the address without a new history entry; `undefined` removes one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query, hash } = pageAddress.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  if (next.toString() === query.toString()) return
  go(textOf({ path, query: next, hash }), { replace: true })
}

function textOf({ path, query, hash }: PageAddress): string {
  return `${path}${query.size > 0 ? `?${query}` : ''}${hash}`
}

/** The values of these parameters in the address; absent ones are omitted. */
export function pickParameters<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value]]
    }),
  ) as { [N in Name]?: string }
}

let mapQuery = new URLSearchParams()

effect(() => {
  if (pageAddress.value.path === '/') mapQuery = pageAddress.value.query
})

/** The map as it was left, including search, sort and filter, with this device selected. */
export function mapPath(deviceId: string): string {
  const query = new URLSearchParams(mapQuery)
  query.set('device', deviceId)
  return `/?${query}`
}

/** Follows links of this page in place; links that browsers open elsewhere are left to them. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download')) return
  const path = addresses.pathAt(link.pathname)
  if (link.origin !== location.origin || path === undefined) return
  if (link.dataset['outside'] !== undefined) return
  event.preventDefault()
  if (link.href !== location.href) go(path + link.search + link.hash)
}
