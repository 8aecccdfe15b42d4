import { DOMImplementation, XMLSerializer } from '@xmldom/xmldom'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import { isoTime } from '../../http/views.ts'
import { labelsText, type ExportedDevice, type ExportFormat } from './export-format.ts'

/**
 * GPX 1.1: one track with one segment. Speed and course use Garmin's track point extension, which
 * is widely supported; no such extension covers the other measurements. Attributes are elements of a
 * namespace of ours: their names are all valid there. The device's name and labels are the file's name
 * and keywords; the track is named after the deviceId, by which the import knows the device.
 */
export const gpx: ExportFormat = {
  mediaType: 'application/gpx+xml',
  extension: 'gpx',
  schema: {
    title: 'RecordTrack',
    type: 'string',
    description:
      'GPX 1.1: one track with one segment, named after the deviceId; the device’s name and labels as name and keywords of the metadata, speed and course as Garmin’s TrackPointExtension v2, attributes as elements in the extensions',
  },

  async *write(pages, device) {
    yield `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="gps-position-ingestion" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:gps="urn:gps-position-ingestion">
${metadata(device)}<trk>
<name>${xmlText(device.deviceId)}</name>
<trkseg>
`
    for await (const page of pages) yield page.map(trackPoint).join('')
    yield `</trkseg>
</trk>
</gpx>
`
  },
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

function trackPoint({
  latitude,
  longitude,
  timestamp,
  altitude,
  speed,
  heading,
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
  const named = Object.entries(attributes).map(
    ([name, value]) =>
      `<gps:${name}>${typeof value === 'string' ? xmlText(value) : value}</gps:${name}>`,
  )
  const extensions = [
    ...element('gpxtpx:TrackPointExtension', measured),
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

/** Lines, none without content: GDAL reads the parts as a single number, 0, unless each is on its own. */
function element(name: string, parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : [`<${name}>`, ...parts, `</${name}>`]
}

/** An xs:decimal, which has no exponent. JavaScript writes one only for numbers close to zero. */
function decimal(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toFixed(20).replace(/\.?0+$/, '') : text
}

function xmlText(text: string): string {
  // Characters that XML 1.0 cannot represent.
  const allowed = text.replace(
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    '\ufffd',
  )
  const node = new DOMImplementation().createDocument(null, '').createTextNode(allowed)
  return new XMLSerializer().serializeToString(node)
}
