import { UnreadableError } from '../../schemas/formats/histories/format.ts'
import { gpxPoints, type GpxPoint } from '../../schemas/formats/histories/gpx-points.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'

/** A point of a recorded track: WGS84 degrees, metres, milliseconds since the epoch. */
export type RecordedPoint = {
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
  readonly time?: number
}

/** Thrown if a text cannot be replayed as GPX; the message says why. */
export class GpxError extends Error {
  override readonly name = 'GpxError'
}

/**
 * The track points of a GPX text in document order, over all tracks and segments.
 * @throws {GpxError} if it is not XML, has no track points, or a point lacks coordinates or has an
 * invalid time.
 */
export function readGpx(text: string): RecordedPoint[] {
  const points = parse(text)
  if (points.length === 0) throw new GpxError('it has no track points (gpx/trk/trkseg/trkpt)')
  return points.map(trackPoint)
}

function parse(text: string): readonly GpxPoint[] {
  try {
    const reader = gpxPoints()
    const { points } = reader.write(text)
    reader.end()
    return points
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    throw new GpxError(error.message, { cause: error })
  }
}

function trackPoint({ latitude, longitude, own }: GpxPoint, index: number): RecordedPoint {
  const [lat, lon, altitude] = [
    parseNumber(latitude),
    parseNumber(longitude),
    parseNumber(own.get('ele')),
  ]
  if (Number.isNaN(lat) || Number.isNaN(lon)) {
    throw new GpxError(`track point ${index + 1} has no lat and lon that are numbers`)
  }
  const timeText = own.get('time')
  const time = timeText === undefined ? undefined : parseIso8601(timeText)
  if (timeText !== undefined && time === undefined) {
    throw new GpxError(`track point ${index + 1} has a time that is not ISO 8601`)
  }
  return {
    latitude: lat,
    longitude: lon,
    ...(!Number.isNaN(altitude) && { altitude }),
    ...(time !== undefined && { time }),
  }
}

function parseNumber(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? NaN : Number(text)
}

export type TimedPoint = RecordedPoint & { readonly time: number }

const STEP_MS = 1_000

/**
 * Assigns a time to every point of a track. Points without one are 1 s apart, before the next point
 * that has one or, at the end, after the last; a track without any time ends `now`. If there are
 * more such points than seconds, the times overlap. With times `now` the whole track is then
 * shifted so that its last point is at `now`.
 */
export function timeTrack(
  points: readonly RecordedPoint[],
  { times, now }: { times: 'original' | 'now'; now: number },
): TimedPoint[] {
  const timed = closeGaps(points, now)
  const shift = times === 'now' ? now - (timed.at(-1)?.time ?? now) : 0
  return timed.map((point) => ({ ...point, time: point.time + shift }))
}

function closeGaps(points: readonly RecordedPoint[], now: number): TimedPoint[] {
  const lastTimed = points.findLastIndex(({ time }) => time !== undefined)
  const lastTime = points[lastTimed]?.time ?? now - points.length * STEP_MS
  // Goes backwards from the end, so that each point has the time of the next one.
  let next = lastTime + (points.length - lastTimed) * STEP_MS
  return points
    .toReversed()
    .map((point) => {
      next = point.time ?? next - STEP_MS
      return { ...point, time: next }
    })
    .toReversed()
}
