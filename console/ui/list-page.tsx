import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { toFailure, type ApiFailure } from '../core/failure.ts'
import { Page } from './page.tsx'
import { historyState } from './router.ts'
import { Failed, FailedLine, Loading } from './states.tsx'
import { Table, type Column } from './table.tsx'
import { useLoad } from './use-load.ts'

/**
 * A page with a list of the API: loading, unavailable, empty, or a table with a button for more.
 */
export function ListPage<T>({
  title,
  caption = title,
  list: { items, failure, isLoading, reload, retry, more },
  canRetry = true,
  actions,
  filters,
  empty,
  above,
  children,
  ...rows
}: {
  title: string
  caption?: string
  list: Paged<T>
  /** Whether retrying makes sense: not for a forbidden list. */
  canRetry?: boolean
  /** Replaces the button that reads the list again. */
  actions?: ComponentChildren
  filters?: ComponentChildren
  /** Shown for a list without rows. */
  empty?: ComponentChildren
  /** Shown above the rows. */
  above?: ComponentChildren
  /** Dialogs. */
  children?: ComponentChildren
} & Rows<T>) {
  const refresh = (
    <button type="button" disabled={isLoading} onClick={reload}>
      Refresh
    </button>
  )
  return (
    <Page title={title} wide actions={actions ?? refresh}>
      {filters}
      {items === undefined && failure === undefined && <Loading />}
      {items === undefined && failure !== undefined && (
        <Failed failure={failure} {...(canRetry && { onRetry: retry })} />
      )}
      {items !== undefined && (
        <>
          {failure !== undefined && <FailedLine failure={failure} onRetry={retry} />}
          {items.length === 0 && more !== undefined && <p>Nothing yet: there is more to search.</p>}
          {items.length === 0 ? (
            more === undefined && empty
          ) : (
            <>
              {above}
              {'show' in rows ? (
                rows.show(items)
              ) : (
                <Table caption={caption} rows={items} {...rows} />
              )}
            </>
          )}
        </>
      )}
      {items !== undefined && more !== undefined && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={more}>
            {isLoading ? 'Loading…' : 'Show more'}
          </button>
        </p>
      )}
      {children}
    </Page>
  )
}

/** The columns of a table, or other content instead. */
type Rows<T> =
  | { columns: readonly Column<T>[]; keyOf: (row: T) => string }
  | { show: (items: readonly T[]) => ComponentChildren }

type PageOfItems<T> = { readonly items: readonly T[]; readonly nextCursor: string | null }

type Paged<T> = {
  readonly items: readonly T[] | undefined
  readonly failure: ApiFailure | undefined
  readonly isLoading: boolean
  readonly reload: () => void
  /** Repeats the failed call. */
  readonly retry: () => void
  /** Reads the next page; undefined on the last page. */
  readonly more: (() => void) | undefined
}

/**
 * A list that the API returns in pages: the first page immediately, each further page on request.
 * Going Back reads as many as were shown.
 */
export function usePages<T>(
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOfItems<T>>,
  inputs: readonly unknown[],
): Paged<T> {
  const key = JSON.stringify(inputs)
  const wanted = useRef(historyState.at(`rows ${key}`))
  const { data, failure, isLoading, reload, set } = useLoad<PageOfItems<T>>(async (signal) => {
    let page = await read(undefined, signal)
    while (page.nextCursor !== null && page.items.length < wanted.current) {
      const { items, nextCursor } = await read(page.nextCursor, signal)
      page = { items: [...page.items, ...items], nextCursor }
    }
    wanted.current = 0
    return page
  }, inputs)
  const shown = data?.items.length
  useEffect(() => {
    if (shown !== undefined) historyState.keep(`rows ${key}`, shown)
  }, [key, shown])

  const [next, setNext] = useState<{ isLoading: boolean; failure?: ApiFailure }>({
    isLoading: false,
  })
  const reading = useRef<AbortController>(null)
  const forget = useCallback(() => {
    reading.current?.abort()
    setNext({ isLoading: false })
  }, [])
  // The next page of another list must not be appended to this one.
  useEffect(() => forget, [key])

  const more = useCallback(() => {
    const cursor = data?.nextCursor
    if (data === undefined || typeof cursor !== 'string') return
    forget()
    const ending = new AbortController()
    reading.current = ending
    setNext({ isLoading: true })
    read(cursor, ending.signal).then(
      ({ items, nextCursor }) => {
        if (ending.signal.aborted) return
        set({ items: [...data.items, ...items], nextCursor })
        setNext({ isLoading: false })
      },
      (thrown: unknown) => {
        if (!ending.signal.aborted) setNext({ isLoading: false, failure: toFailure(thrown) })
      },
    )
  }, [data])
  const reloadAll = useCallback(() => {
    forget()
    reload()
  }, [reload])
  return {
    items: data?.items,
    failure: failure ?? next.failure,
    isLoading: isLoading || next.isLoading,
    reload: reloadAll,
    retry: failure === undefined && next.failure !== undefined ? more : reloadAll,
    more: typeof data?.nextCursor === 'string' ? more : undefined,
  }
}
