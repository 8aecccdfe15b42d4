import { DOMImplementation, XMLSerializer } from '@xmldom/xmldom'
import type { PositionRecord } from '../../../schemas/devices/read-models.ts'
import { distance, earthPointOf, type EarthPoint } from '../../../schemas/geo/earth-point.ts'
import { LeapFilter, isLeap } from '../../../schemas/geo/leap-filter.ts'
import { isoTime } from '../../http/views.ts'
import {
  labelsText,
  type ExportedDevice,
  type ExportFormat,
  type RecordPages,
} from './export-format.ts'

/**
 * GPX 1.1: one track, with a segment for each part between its gaps. Speed and course use Garmin's
 * track point extension, which is widely supported; no such extension covers the other
 * measurements. These, and values that GPX excludes, are elements of the service's namespace, and
 * so are attributes: their names are all valid there, and `type` distinguishes the text 7 from the
 * number. The device's name and labels are the file's name and keywords; the track is named after
 * the deviceId, by which the import identifies the device.
 */
export const gpx: ExportFormat = {
  mediaType: 'application/gpx+xml',
  extension: 'gpx',
  schema: {
    title: 'RecordTrack',
    type: 'string',
    description:
      'GPX 1.1: one track, with a new segment wherever `/devices/{deviceId}/track` has a gap, named after the deviceId; the device’s name and labels as name and keywords of the metadata, speed and course as Garmin’s TrackPointExtension v2, other measurements and attributes as elements in the extensions, each attribute with the `type` of its value: text, number, boolean, or json for a text with characters that XML excludes',
  },

  async *write(pages, device, { gapMs }) {
    yield `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="gps-position-ingestion" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:gps="urn:gps-position-ingestion">
${metadata(device)}<trk>
<name>${xmlText(device.deviceId)}</name>
${trackExtensions(device)}<trkseg>
`
    for await (const part of markGaps(pages, await gapMs()))
      yield part.map(formatTrackPoint).join('')
    yield `</trkseg>
</trk>
</gpx>
`
  },
}

function formatTrackPoint({ record, isAfterGap }: Placed): string {
  return `${isAfterGap ? '</trkseg>\n<trkseg>\n' : ''}${trackPoint(record)}`
}

function metadata(device: ExportedDevice): string {
  const { name, labels = [] } = device
  const parts = [
    ...(name === undefined ? [] : [`<name>${xmlText(name)}</name>`]),
    ...(labels.length === 0 ? [] : [`<keywords>${xmlText(labelsText(device))}</keywords>`]),
  ]
  return element('metadata', parts)
    .map((line) => `${line}\n`)
    .join('')
}

/** The deviceId again, if XML changes its characters. */
function trackExtensions({ deviceId }: ExportedDevice): string {
  if (!EXCLUDED.test(deviceId)) return ''
  return `<extensions>${valueElement('deviceId', deviceId)}</extensions>\n`
}

function trackPoint({
  latitude,
  longitude,
  timestamp,
  accuracy,
  altitude,
  speed,
  heading,
  battery,
  attributes = {},
  imported,
}: PositionRecord): string {
  // GPX excludes 180 degrees east; 180 degrees west is the same meridian.
  const east = longitude === 180 ? -180 : longitude
  const measured = [
    ...(speed === undefined ? [] : [`<gpxtpx:speed>${speed}</gpxtpx:speed>`]),
    // GPX excludes a course of 360 degrees.
    ...(heading === undefined ? [] : [`<gpxtpx:course>${decimal(heading % 360)}</gpxtpx:course>`]),
  ]
  const named = Object.entries(attributes).map(([name, value]) => valueElement(name, value))
  const extensions = [
    ...element('gpxtpx:TrackPointExtension', measured),
    ...(accuracy === undefined ? [] : [`<gps:accuracy>${accuracy}</gps:accuracy>`]),
    ...(battery === undefined ? [] : [`<gps:battery>${battery}</gps:battery>`]),
    ...(heading === 360 ? [`<gps:heading>${heading}</gps:heading>`] : []),
    ...(longitude === 180 ? [`<gps:longitude>${longitude}</gps:longitude>`] : []),
    ...element('gps:attributes', named),
    ...(imported === true ? ['<gps:imported>true</gps:imported>'] : []),
  ]
  return [
    `<trkpt lat="${decimal(latitude)}" lon="${decimal(east)}">`,
    altitude === undefined ? '' : `<ele>${decimal(altitude)}</ele>`,
    `<time>${isoTime(timestamp)}</time>`,
    extensions.length === 0 ? '' : `<extensions>${extensions.join('\n')}</extensions>`,
    '</trkpt>\n',
  ].join('')
}

/**
 * Writes the parts on separate, non-empty lines: otherwise GDAL reads the elements as a single
 * number, 0.
 */
function element(name: string, parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : [`<${name}>`, ...parts, `</${name}>`]
}

/** A value with its type, which distinguishes the text 7 from the number. */
function valueElement(name: string, value: string | number | boolean): string {
  const isExcluded = typeof value === 'string' && EXCLUDED.test(value)
  const type = isExcluded ? 'json' : typeof value === 'string' ? 'text' : typeof value
  const text = isExcluded ? JSON.stringify(value).replace(EXCLUDED_ALL, escapeXml) : String(value)
  return `<gps:${name} type="${type}">${xmlText(text)}</gps:${name}>`
}

function escapeXml(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** An xs:decimal, which has no exponent. JavaScript writes one only for numbers close to zero. */
function decimal(number: number): string {
  const [, sign = '', first = '', rest = '', zeros] =
    /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(String(number)) ?? []
  if (zeros === undefined) return String(number)
  return `${sign}0.${'0'.repeat(Number(zeros) - 1)}${first}${rest}`
}

/** Characters that XML 1.0 cannot represent. */
const EXCLUDED = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const EXCLUDED_ALL = new RegExp(EXCLUDED, 'gu')

function xmlText(text: string): string {
  const allowed = text.replace(EXCLUDED_ALL, '\ufffd')
  const node = new DOMImplementation().createDocument(null, '').createTextNode(allowed)
  return new XMLSerializer().serializeToString(node)
}

/** A record, and whether a gap of the track lies before it. */
type Placed = { readonly record: PositionRecord; readonly isAfterGap: boolean }

type Located = {
  readonly timestamp: number
  readonly place: EarthPoint
  readonly record: PositionRecord
}

/**
 * Flags each record that follows a gap, in pages of either order: exactly where an unthinned track
 * has a gap. A single record that jumps away and back causes no gap there, so it causes none here.
 */
async function* markGaps(
  pages: RecordPages,
  gapMs: number,
): AsyncGenerator<readonly Placed[], void> {
  const afterGap = new Set<PositionRecord>()
  const waiting: PositionRecord[] = []
  let last: Located | undefined
  const leaps = new LeapFilter<Located>((next) => {
    if (last !== undefined && isGap(last, next, gapMs)) afterGap.add(next.record)
    last = next
  })
  const take = (end: number) =>
    waiting.splice(0, end).map((record) => ({ record, isAfterGap: afterGap.delete(record) }))

  let direction: 1 | -1 = 1
  for await (const page of pages) {
    const [first, second] = [waiting[0] ?? page[0], page.at(-1)]
    if (first !== undefined && second !== undefined && second.timestamp < first.timestamp) {
      direction = -1
    }
    for (const record of page) {
      const { timestamp, latitude, longitude } = record
      waiting.push(record)
      leaps.add({
        timestamp: direction * timestamp,
        place: earthPointOf(latitude, longitude),
        record,
      })
    }
    yield take(leaps.held === undefined ? waiting.length : waiting.length - 1)
  }
  leaps.end()
  yield take(waiting.length)
}

function isGap(from: Located, to: Located, gapMs: number): boolean {
  const ms = to.timestamp - from.timestamp
  return ms > 0 && (ms > gapMs || isLeap(distance(from.place, to.place), ms))
}
