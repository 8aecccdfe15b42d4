import { useEffect, useRef, useState } from 'preact/hooks'
import { momentOf, momentInAddress } from '../../core/moment.ts'
import type { Span } from '../../core/span.ts'
import { place, setQuery } from '../../ui/router.ts'

/** A replay moves many times a second; the address changes only once it rests. */
const RESTS_MS = 250

/**
 * The chosen moment of the shown days, in milliseconds; undefined if none is chosen. The address has it
 * (`at`), so that it can be sent to somebody.
 */
export function useMoment(
  span: Span,
  zone: string,
): readonly [at: number | undefined, choose: (at: number) => void] {
  const asked = place.value.query.get('at') ?? ''
  const [moving, setMoving] = useState<number>()
  const written = useRef(asked)
  useEffect(() => setMoving(undefined), [span, zone])
  useEffect(() => {
    // Back, or a link, leads elsewhere. Of a moment from here the address has only the seconds, and
    // by the time that it has them, the cursor may be further on.
    if (asked !== written.current) setMoving(undefined)
    written.current = asked
  }, [asked])
  useEffect(() => {
    if (moving === undefined) return undefined
    const timer = setTimeout(() => {
      written.current = momentInAddress(moving, span, zone)
      setQuery({ at: written.current })
    }, RESTS_MS)
    return () => clearTimeout(timer)
  }, [moving, span, zone])
  return [moving ?? momentOf(asked, span.first, zone), setMoving]
}
