import { signal } from '@preact/signals'

/** Where the page is: what the address bar says. */
export const place = signal(readPlace())

export type Place = {
  readonly path: string
  readonly query: URLSearchParams
  readonly hash: string
}

function readPlace(): Place {
  const { pathname, search, hash } = location
  return { path: pathname, query: new URLSearchParams(search), hash }
}

export function startRouter(): void {
  addEventListener('popstate', () => (place.value = readPlace()))
  document.addEventListener('click', followLink)
}

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  place.value = readPlace()
}

/** Sets parameters of the address without a new entry in the history; `undefined` removes one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query, hash } = place.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  if (next.toString() === query.toString()) return
  go(`${path}${next.size > 0 ? `?${next}` : ''}${hash}`, { replace: true })
}

/** What the address says of these names; those it does not name are left out. */
export function namedIn<Name extends string>(
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

/** The address of a device's page. */
export function devicePath(deviceId: string): string {
  return `/devices/${encodeURIComponent(deviceId)}`
}

/** Links of this page change it in place; those that browsers open elsewhere are left to them. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download')) return
  if (link.origin !== location.origin || link.dataset['outside'] !== undefined) return
  event.preventDefault()
  if (link.href !== location.href) go(link.pathname + link.search + link.hash)
}
