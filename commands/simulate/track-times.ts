import type { RecordedPoint } from './read-gpx.ts'

export type TimedPoint = RecordedPoint & { readonly time: number }

const STEP_MS = 1_000

/**
 * Gives every point of a track a time. Points without one are 1 s apart, before the next point that
 * has one or, at the end, after the last; a track without any time ends `now`. If there are more such
 * points than seconds, the times overlap. With times `now` the whole track is then shifted so that
 * its last point is at `now`.
 */
export function timeTrack(
  points: readonly RecordedPoint[],
  { times, now }: { times: 'original' | 'now'; now: number },
): TimedPoint[] {
  const timed = withoutGaps(points, now)
  const shift = times === 'now' ? now - (timed.at(-1)?.time ?? now) : 0
  return timed.map((point) => ({ ...point, time: point.time + shift }))
}

function withoutGaps(points: readonly RecordedPoint[], now: number): TimedPoint[] {
  const lastTimed = points.findLastIndex(({ time }) => time !== undefined)
  const lastTime = points[lastTimed]?.time ?? now - points.length * STEP_MS
  // From the end: each point knows the time of the one after it.
  let next = lastTime + (points.length - lastTimed) * STEP_MS
  return points
    .toReversed()
    .map((point) => {
      next = point.time ?? next - STEP_MS
      return { ...point, time: next }
    })
    .toReversed()
}
