import { useEffect, useState } from 'preact/hooks'
import { momentOf, momentText } from '../../core/moment.ts'
import type { Span } from '../../core/span.ts'
import { place, setQuery } from '../../ui/router.ts'

/** A replay moves many times a second; the address changes only once it rests. */
const RESTS_MS = 250

/**
 * The chosen moment of the shown days, in milliseconds, which stands in the address (`at`) so that it can be
 * sent to somebody; undefined if none is chosen.
 */
export function useMoment(
  span: Span,
  zone: string,
): readonly [at: number | undefined, choose: (at: number) => void] {
  const asked = place.value.query.get('at') ?? ''
  const [moving, setMoving] = useState<number>()
  useEffect(() => {
    // Back, or a link, leads elsewhere; what the address says in seconds, `moving` says exactly.
    setMoving((before) =>
      before !== undefined && momentText(before, span, zone) === asked ? before : undefined,
    )
  }, [span, asked, zone])
  useEffect(() => {
    if (moving === undefined) return undefined
    const timer = setTimeout(() => setQuery({ at: momentText(moving, span, zone) }), RESTS_MS)
    return () => clearTimeout(timer)
  }, [moving, span, zone])
  return [moving ?? momentOf(asked, span.first, zone), setMoving]
}
