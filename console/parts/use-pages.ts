import { useCallback, useState } from 'preact/hooks'
import { toFailure, type ApiFailure } from '../api/failure.ts'
import { useLoad } from './use-load.ts'

export type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null }

export type Paged<T> = {
  readonly items: readonly T[] | undefined
  readonly failure: ApiFailure | undefined
  readonly isLoading: boolean
  readonly reload: () => void
  /** Reads the next page; undefined where there is none. */
  readonly more: (() => void) | undefined
}

/** A list that the API gives in pages: the first one at once, each next one when asked for. */
export function usePages<T>(
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): Paged<T> {
  const { data, failure, isLoading, reload, set } = useLoad<Page<T>>(
    (signal) => read(undefined, signal),
    inputs,
  )
  const [next, setNext] = useState<{ isLoading: boolean; failure?: ApiFailure }>({
    isLoading: false,
  })
  const more = useCallback(() => {
    const cursor = data?.nextCursor
    if (data === undefined || typeof cursor !== 'string') return
    setNext({ isLoading: true })
    read(cursor, new AbortController().signal).then(
      ({ items, nextCursor }) => {
        set({ items: [...data.items, ...items], nextCursor })
        setNext({ isLoading: false })
      },
      (thrown: unknown) => setNext({ isLoading: false, failure: toFailure(thrown) }),
    )
  }, [data])
  return {
    items: data?.items,
    failure: failure ?? next.failure,
    isLoading: isLoading || next.isLoading,
    reload,
    more: typeof data?.nextCursor === 'string' ? more : undefined,
  }
}
