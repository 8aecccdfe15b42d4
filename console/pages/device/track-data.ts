import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { rangeQuery } from '../../core/span.ts'
import {
  pointOf,
  joinTracks,
  partsOfTrack,
  trackOf,
  type Track,
  type TrackPoint,
} from '../../core/track.ts'
import { useLoad } from '../../ui/use-load.ts'
import { stepReports } from '../../core/moment.ts'
import type { MapPart } from './finer-track.ts'
import { readEpisodes, type Episode } from '../../core/trips.ts'

/** A replay moves many times a second; reports are read only once it rests. */
const RESTS_MS = 150
const READ_EACH_WAY = 25

/** Times in milliseconds; `rangeQuery` formats them for the service. */
export type DeviceRange = {
  readonly deviceId: string
  readonly from: number
  readonly to: number
}

type Reports = {
  readonly reports: readonly TrackPoint[]
  /** Whether these are all reports of their time span. */
  readonly isEach: boolean
  /** Whether they include the first report of the range, and the last. */
  readonly isFirst: boolean
  readonly isLast: boolean
}

/**
 * All reports around a moment: a long track is drawn with only some of its points, so the reports
 * around the cursor are read once it rests. Until then, the drawn points are used.
 */
export function useReports(
  { deviceId, from, to }: DeviceRange,
  track: Track | undefined,
  at: number,
): Reports {
  const drawn = track?.points ?? []
  const isThinned = track !== undefined && track.total > drawn.length
  const resting = useResting(at)
  const read = (
    { order, ...range }: { from: number; to: number; order: 'asc' | 'desc' },
    signal: AbortSignal,
  ) =>
    api.get('/devices/{deviceId}/positions', {
      path: { deviceId },
      query: { ...rangeQuery(range), order, limit: READ_EACH_WAY },
      signal,
    })
  const { data } = useLoad(
    async (signal) => {
      if (!isThinned || resting < from || resting >= to) return undefined
      const middle = Math.floor(resting) + 1
      const [before, after] = await Promise.all([
        read({ from, to: middle, order: 'desc' }, signal),
        read({ from: middle, to, order: 'asc' }, signal),
      ])
      return [...before.items.reverse(), ...after.items].map(pointOf)
    },
    [deviceId, from, to, isThinned, resting],
  )
  // Until the reports around the next moment arrive, the previous ones are near enough.
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

/** A value that changes often, once it has stopped changing. */
export function useResting<T>(at: T): T {
  const [resting, setResting] = useState(at)
  useEffect(() => {
    const timer = setTimeout(() => setResting(at), RESTS_MS)
    return () => clearTimeout(timer)
  }, [at])
  return resting
}

/**
 * Steps from report to report. A step to a report that has not been read yet waits for it, unless
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
    const { at: next, left } = isEach ? stepReports(reports, before.at, steps) : { at, left: steps }
    const isEnd = left < 0 ? isFirst : isLast
    cursor.current = { at: next, waiting: isEach && isEnd ? 0 : left }
    if (next !== before.at) choose(next)
  }
  useEffect(() => go(0), [reports])
  return go
}

/**
 * The track of a range, or a finer one of only a part of the map; years are read one after the
 * other, because each takes the service seconds.
 */
export async function loadTrack(
  { deviceId, from, to }: DeviceRange,
  signal: AbortSignal,
  part?: MapPart,
): Promise<Track> {
  const tracks: Track[] = []
  const within = part && [part.west, part.south, part.east, part.north].map(degreesText).join()
  for (const query of partsOfTrack({ from, to })) {
    const options = { path: { deviceId }, query: { ...query, within }, signal }
    tracks.push(trackOf(await api.get('/devices/{deviceId}/track', options)))
  }
  return joinTracks(tracks)
}

/** Six decimals are a tenth of a metre. */
function degreesText(degrees: number): string {
  return degrees.toFixed(6)
}

/** The trips and stops of a range, and the gaps between them. */
export async function loadEpisodes(
  { deviceId, from, to }: DeviceRange,
  signal: AbortSignal,
): Promise<readonly Episode[]> {
  const items: Parameters<typeof readEpisodes>[0][number][] = []
  for (let cursor: string | undefined; ;) {
    const page = await api.get('/devices/{deviceId}/trips', {
      path: { deviceId },
      query: { ...rangeQuery({ from, to }), cursor },
      signal,
    })
    items.push(...page.items)
    if (page.nextCursor === null) return readEpisodes(items)
    cursor = page.nextCursor
  }
}
