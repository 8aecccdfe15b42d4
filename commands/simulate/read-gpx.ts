import { UnreadableError } from '../../schemas/formats/histories/format.ts'
import { gpxPoints, type GpxPoint } from '../../schemas/formats/histories/gpx-points.ts'
import { parseIso8601 } from '../../schemas/iso-8601.ts'

/** A point of a recorded track: WGS84 degrees, metres, milliseconds since the epoch. */
export type RecordedPoint = {
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
  readonly time?: number
}

/** The text cannot be replayed as GPX; the message says why. */
export class GpxError extends Error {
  override readonly name = 'GpxError'
}

/**
 * The track points of a GPX text in document order, over all tracks and segments.
 * @throws {GpxError} not XML, no track points, or a point without a place or with an invalid time.
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
  const [lat, lon, altitude] = [numberIn(latitude), numberIn(longitude), numberIn(own.get('ele'))]
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

function numberIn(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? NaN : Number(text)
}
