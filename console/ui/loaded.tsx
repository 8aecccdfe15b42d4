import type { ComponentChildren } from 'preact'
import { Failed, FailedLine, Loading } from './states.tsx'
import type { LoadState as Load } from './use-load.ts'

/** Data that is loading, unavailable, or shown, with a line above it if reading it again failed. */
export function Loaded<T>({
  of: { data, failure, reload },
  lines,
  children,
}: {
  of: Load<T>
  /** The grey lines while it is loading. */
  lines?: number
  children: (data: T) => ComponentChildren
}) {
  if (data === undefined) {
    if (failure !== undefined) return <Failed failure={failure} onRetry={reload} />
    return <Loading {...(lines !== undefined && { lines })} />
  }
  return (
    <>
      {failure !== undefined && <FailedLine failure={failure} onRetry={reload} />}
      {children(data)}
    </>
  )
}
