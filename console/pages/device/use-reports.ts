import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { pointOf, type Track, type TrackPoint } from '../../core/track.ts'
import { useLoad } from '../../ui/use-load.ts'

/** A replay moves many times a second; the service is asked only once it rests. */
const RESTS_MS = 150
const READ_EACH_WAY = 25

export type DeviceRange = {
  readonly deviceId: string
  readonly from: string
  readonly to: string
}

export type Reports = {
  readonly reports: readonly TrackPoint[]
  /** Whether none between them is missing. */
  readonly isEach: boolean
  /** Whether the range has none before them, and none after. */
  readonly isFirst: boolean
  readonly isLast: boolean
}

/**
 * The reports around a moment, each of them: a long track is drawn without most of its points, so
 * the ones around the cursor are read once it rests. Until then they are those that are drawn.
 */
export function useReports(
  { deviceId, from, to }: DeviceRange,
  track: Track | undefined,
  at: number,
): Reports {
  const drawn = track?.points ?? []
  const isThinned = track !== undefined && track.total > drawn.length
  const resting = useResting(at)
  const read = (query: { from: string; to: string; order: 'asc' | 'desc' }, signal: AbortSignal) =>
    api.get('/devices/{deviceId}/positions', {
      path: { deviceId },
      query: { ...query, limit: READ_EACH_WAY },
      signal,
    })
  const { data } = useLoad(
    async (signal) => {
      const begin = Date.parse(from)
      if (!isThinned || resting < begin || resting >= Date.parse(to)) return undefined
      const middle = new Date(Math.floor(resting) + 1).toISOString()
      const [before, after] = await Promise.all([
        read({ from, to: middle, order: 'desc' }, signal),
        read({ from: middle, to, order: 'asc' }, signal),
      ])
      return [...before.items.reverse(), ...after.items].map(pointOf)
    },
    [deviceId, from, to, isThinned, resting],
  )
  // Until those around the next moment have come, the ones before are still near enough.
  const latest = useRef(data)
  latest.current = data ?? latest.current
  const around = latest.current
  return useMemo(() => {
    const allDrawn = { reports: drawn, isEach: !isThinned, isFirst: true, isLast: true }
    const [first, last] = [around?.[0], around?.at(-1)]
    if (around === undefined || first === undefined || last === undefined) return allDrawn
    const isFirst = first.at <= (drawn[0]?.at ?? 0)
    const isLast = last.at >= (drawn.at(-1)?.at ?? 0)
    if (at < first.at || (at >= last.at && !isLast)) return allDrawn
    const after = new Map(drawn.map((point) => [point.at, point.after]))
    const reports = around.map((point) => ({ ...point, after: after.get(point.at) }))
    return { reports, isEach: true, isFirst, isLast }
  }, [around, drawn, isThinned, at])
}

function useResting(at: number): number {
  const [resting, setResting] = useState(at)
  useEffect(() => {
    const timer = setTimeout(() => setResting(at), RESTS_MS)
    return () => clearTimeout(timer)
  }, [at])
  return resting
}
