import { parseGPXWithCustomParser } from '@we-gold/gpxjs'
import { DOMParser, onErrorStopParsing, type Document } from '@xmldom/xmldom'
import { parseIso8601 } from '../../schemas/iso-8601.ts'

/** A point of a recorded track: WGS84 degrees, metres, milliseconds since the epoch. */
export type TrackPoint = {
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
 * The track points of a GPX text in document order, over all tracks and segments. Way points and
 * routes are left out: they are not recorded positions.
 * @throws {GpxError} not XML, no track points, or a point without a place or with an invalid time.
 */
export function readGpx(text: string): TrackPoint[] {
  const [gpx] = parse(text, parseXml, { removeEmptyFields: false, avgSpeedThreshold: 0 })
  const points = gpx?.tracks.flatMap((track) => track.points) ?? []
  if (points.length === 0) throw new GpxError('it has no track points (gpx/trk/trkseg/trkpt)')
  return points.map(trackPoint)
}

type ParsedPoint = {
  readonly latitude: number
  readonly longitude: number
  readonly elevation: number | null
  readonly time: Date | null
}

/** Typed here because the parser's own declarations do not resolve under NodeNext. */
const parse = parseGPXWithCustomParser as unknown as (
  text: string,
  parseXml: (text: string) => Document,
  options: { removeEmptyFields: boolean; avgSpeedThreshold: number },
) => readonly [{ readonly tracks: readonly { readonly points: readonly ParsedPoint[] }[] } | null]

function parseXml(text: string): Document {
  const document = xmlDocument(text)
  // GPX times are UTC; the parser would read one without a zone as local time.
  for (const element of Array.from(document.getElementsByTagName('time'))) {
    const time = parseIso8601((element.textContent ?? '').trim())
    if (time !== undefined) element.textContent = new Date(time).toISOString()
  }
  return document
}

function xmlDocument(text: string): Document {
  try {
    return new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, 'text/xml')
  } catch (error) {
    const [reason = ''] = error instanceof Error ? error.message.split('\n') : []
    throw new GpxError(`it is not well-formed XML: ${reason}`, { cause: error })
  }
}

function trackPoint({ latitude, longitude, elevation, time }: ParsedPoint, index: number) {
  if (Number.isNaN(latitude) || Number.isNaN(longitude)) {
    throw new GpxError(`track point ${index + 1} has no lat and lon that are numbers`)
  }
  if (time !== null && Number.isNaN(time.getTime())) {
    throw new GpxError(`track point ${index + 1} has a time that is not ISO 8601`)
  }
  return {
    latitude,
    longitude,
    ...(elevation !== null && { altitude: elevation }),
    ...(time !== null && { time: time.getTime() }),
  }
}
