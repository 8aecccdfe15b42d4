import type { ComponentChildren } from 'preact'
import { Failed, FailedLine, Loading } from './states.tsx'
import type { Paged } from './use-pages.ts'

/** A list of the API: loading, unavailable, empty, or its items with a button for more. */
export function PagedList<T>({
  list: { items, failure, isLoading, retry, more },
  canRetry = true,
  empty,
  children,
}: {
  list: Paged<T>
  /** Whether retrying makes sense: not for a forbidden list. */
  canRetry?: boolean
  empty: ComponentChildren
  children: (items: readonly T[]) => ComponentChildren
}) {
  if (items === undefined) {
    if (failure === undefined) return <Loading />
    return <Failed failure={failure} {...(canRetry && { onRetry: retry })} />
  }
  return (
    <>
      {failure !== undefined && <FailedLine failure={failure} onRetry={retry} />}
      {items.length === 0 ? empty : children(items)}
      {more !== undefined && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={more}>
            {isLoading ? 'Loading …' : 'Show more'}
          </button>
        </p>
      )}
    </>
  )
}
