import { DOMImplementation, XMLSerializer } from '@xmldom/xmldom'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import { isoTime } from '../../http/views.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * GPX 1.1: one track of one segment. Speed and course stand in Garmin's extension of track points,
 * which readers know; accuracy and battery have no place that they do.
 */
export const gpx: ExportFormat = {
  mediaType: 'application/gpx+xml',
  extension: 'gpx',
  schema: {
    title: 'RecordTrack',
    type: 'string',
    description:
      'GPX 1.1: one track with one segment, named after the device; speed and course as Garmin’s TrackPointExtension v2',
  },

  async *write(pages, deviceId) {
    yield `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="gps-position-ingestion" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2">
<trk>
<name>${xmlText(deviceId)}</name>
<trkseg>
`
    for await (const page of pages) yield page.map(trackPoint).join('')
    yield `</trkseg>
</trk>
</gpx>
`
  },
}

/** Holds numbers and times only: nothing in it needs escaping. */
function trackPoint({
  latitude,
  longitude,
  timestamp,
  altitude,
  speed,
  heading,
}: PositionRecord): string {
  // GPX ends short of 180 degrees east; it is the same meridian as 180 degrees west.
  const east = longitude === 180 ? -180 : longitude
  const measured = [
    ...(speed === undefined ? [] : [`<gpxtpx:speed>${speed}</gpxtpx:speed>`]),
    // The course ends short of 360 degrees.
    ...(heading === undefined ? [] : [`<gpxtpx:course>${decimal(heading % 360)}</gpxtpx:course>`]),
  ]
  return [
    `<trkpt lat="${decimal(latitude)}" lon="${decimal(east)}">`,
    altitude === undefined ? '' : `<ele>${decimal(altitude)}</ele>`,
    `<time>${isoTime(timestamp)}</time>`,
    measured.length === 0 ? '' : extensions(measured),
    '</trkpt>\n',
  ].join('')
}

/** GDAL takes the elements for one number, which is 0, unless each stands on a line of its own. */
function extensions(measured: readonly string[]): string {
  const lines = ['<gpxtpx:TrackPointExtension>', ...measured, '</gpxtpx:TrackPointExtension>']
  return `<extensions>${lines.join('\n')}</extensions>`
}

/** An xs:decimal, which has no exponent. Only numbers next to zero would be written with one. */
function decimal(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toFixed(20).replace(/\.?0+$/, '') : text
}

function xmlText(text: string): string {
  // What XML 1.0 has no way to write.
  const allowed = text.replace(
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    '\ufffd',
  )
  const node = new DOMImplementation().createDocument(null, '').createTextNode(allowed)
  return new XMLSerializer().serializeToString(node)
}
