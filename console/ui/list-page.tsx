import type { ComponentChildren } from 'preact'
import { Page } from './page.tsx'
import { Failed, FailedLine, Loading } from './states.tsx'
import { Table, type Column } from './table.tsx'
import type { Paged } from './use-pages.ts'

/** A page with a list of the API: loading, unavailable, empty, or a table with a button for more. */
export function ListPage<T>({
  title,
  caption = title,
  list: { items, failure, isLoading, reload, retry, more },
  canRetry = true,
  columns,
  keyOf,
  actions,
  filters,
  empty,
  above,
  children,
}: {
  title: string
  caption?: string
  list: Paged<T>
  /** Whether retrying makes sense: not for a forbidden list. */
  canRetry?: boolean
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  /** Instead of a button that reads the list again. */
  actions?: ComponentChildren
  filters?: ComponentChildren
  /** Shown for a list without rows. */
  empty?: ComponentChildren
  /** Shown above the rows. */
  above?: ComponentChildren
  /** Dialogs. */
  children?: ComponentChildren
}) {
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
              <Table caption={caption} columns={columns} rows={items} keyOf={keyOf} />
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
