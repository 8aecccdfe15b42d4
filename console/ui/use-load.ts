import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { toFailure, type ApiFailure } from '../core/failure.ts'

export type LoadState<T> = {
  /** The last data read; it remains while it is read again, and if that fails. */
  readonly data: T | undefined
  readonly failure: ApiFailure | undefined
  readonly isLoading: boolean
  readonly reload: () => void
  /** Replaces the data, for example with the response to a change. */
  readonly set: (data: T) => void
}

/**
 * Reads data when the component appears and whenever one of `inputs` changes, and again after a
 * temporary failure; data of other inputs is never shown.
 */
export function useLoad<T>(
  read: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { everyMs }: { everyMs?: number } = {},
): LoadState<T> {
  const [state, setState] = useState<{
    readonly data?: T | undefined
    readonly failure?: ApiFailure | undefined
    readonly isLoading: boolean
  }>({ isLoading: true })
  const [asked, setAsked] = useState(0)
  const key = JSON.stringify(inputs)
  const shown = useRef(key)
  const isUnderWay = useRef(true)
  const reload = useCallback(() => setAsked((count) => count + 1), [])
  const set = useCallback((data: T) => setState({ data, isLoading: false }), [])

  useEffect(() => {
    const ending = new AbortController()
    const isOther = shown.current !== key
    shown.current = key
    isUnderWay.current = true
    setState((before) => ({ ...(isOther ? {} : before), isLoading: true }))
    read(ending.signal).then(
      (data) => {
        if (ending.signal.aborted) return
        isUnderWay.current = false
        setState({ data, isLoading: false })
      },
      (thrown: unknown) => {
        if (ending.signal.aborted) return
        isUnderWay.current = false
        const failure = toFailure(thrown)
        setState(({ data }) => ({ data, failure, isLoading: false }))
      },
    )
    return () => ending.abort()
  }, [key, asked])

  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = setInterval(() => {
      // Otherwise a response that takes longer than the interval would never be shown.
      if (!document.hidden && !isUnderWay.current) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, reload])

  const { data, failure, isLoading } = state
  useRetry(isLoading ? undefined : failure, reload)
  return shown.current === key
    ? { data, failure, isLoading, reload, set }
    : { data: undefined, failure: undefined, isLoading: true, reload, set }
}

const RETRY_MS = 5_000
/** Status codes of a service, or of a proxy in front of it, that is busy or unavailable. */
const PASSING: readonly number[] = [429, 502, 503, 504]

/**
 * Automatically repeats a read that failed because the service was busy or unavailable, not before
 * the time it stated.
 */
export function useRetry(failure: ApiFailure | undefined, retry: () => void): void {
  useEffect(() => {
    if (failure === undefined) return undefined
    const { status, error, retryAt = 0 } = failure
    if (error !== 'UNREACHABLE' && !PASSING.includes(status)) return undefined
    const again = () => document.hidden || Date.now() < retryAt || retry()
    const timer = setInterval(again, RETRY_MS)
    addEventListener('online', again)
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [failure, retry])
}
