import { useEffect, useRef } from 'preact/hooks'
import { walk } from '../../core/moment.ts'
import type { Reports } from './use-reports.ts'

/**
 * Goes from report to report. A step to a report that has not been read yet waits for it, unless
 * the cursor moves elsewhere.
 */
export function useSteps(
  { reports, isEach, isFirst, isLast }: Reports,
  at: number,
  choose: (at: number) => void,
): (by: -1 | 1) => void {
  const cursor = useRef({ at, waiting: 0 })
  if (cursor.current.at !== at) cursor.current = { at, waiting: 0 }

  function go(by: number): void {
    const before = cursor.current
    const steps = before.waiting + by
    const { at: next, left } = isEach ? walk(reports, before.at, steps) : { at, left: steps }
    const isEnd = left < 0 ? isFirst : isLast
    cursor.current = { at: next, waiting: isEach && isEnd ? 0 : left }
    if (next !== before.at) choose(next)
  }
  useEffect(() => go(0), [reports])
  return go
}
