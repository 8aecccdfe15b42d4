import { useEffect } from 'preact/hooks'
import type { ApiFailure } from '../core/failure.ts'

const RETRY_MS = 5_000
/** Answers of a service, or of a proxy before it, that is busy or away. */
const PASSING: readonly number[] = [429, 502, 503, 504]

/** Reads again by itself what failed because the service was busy or away, not before it said. */
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
