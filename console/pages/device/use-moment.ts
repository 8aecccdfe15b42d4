import { useEffect, useState } from 'preact/hooks'
import { momentOf } from '../../core/moment.ts'
import { time } from '../../core/times.ts'
import { place, setQuery } from '../../ui/router.ts'

/** A replay moves many times a second; the address changes only once it rests. */
const RESTS_MS = 250

/**
 * The chosen moment of a day, in milliseconds, which stands in the address (`at`) so that it can be
 * sent to somebody; undefined if none is chosen.
 */
export function useMoment(
  day: string,
  zone: string,
): readonly [at: number | undefined, choose: (at: number) => void] {
  const asked = place.value.query.get('at') ?? ''
  const [moving, setMoving] = useState<number>()
  useEffect(() => {
    // Back, or a link, leads elsewhere; what the address says in seconds, `moving` says exactly.
    setMoving((before) =>
      before !== undefined && time(before, zone) === asked ? before : undefined,
    )
  }, [day, asked, zone])
  useEffect(() => {
    if (moving === undefined) return undefined
    const timer = setTimeout(() => setQuery({ at: time(moving, zone) }), RESTS_MS)
    return () => clearTimeout(timer)
  }, [moving, zone])
  return [moving ?? momentOf(day, asked, zone), setMoving]
}
