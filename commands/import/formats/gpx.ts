import { otherScalars, typedTexts } from '../../../ingest-api/apps/sent-attributes.ts'
import { timeIn } from '../../../ingest-api/apps/times.ts'
import { measure, textIn, type Measured } from '../../../ingest-api/apps/values.ts'
import type { Format, FileItem } from './format.ts'
import { gpxPoints, type GpxPoint } from './gpx-points.ts'

/** Programs that name each track after its device: PhoneTrack and our own export. */
const TRACKS_ARE_DEVICES = /^(?:PhoneTrack\b.*|gps-position-ingestion)$/

export const gpx: Format = {
  name: 'gpx',
  title: 'GPX',
  places: 'line',
  recognises: (head) => head.startsWith('<') && /<(?:\w+:)?gpx[\s>]/.test(head),

  async *read(text) {
    const reader = gpxPoints()
    for await (const chunk of text) {
      const points = reader.write(chunk)
      const isDevice = TRACKS_ARE_DEVICES.test(reader.creator() ?? '')
      yield points.map((point) => itemOf(point, isDevice ? textIn(point.track) : undefined))
    }
    reader.end()
  },
}

function itemOf({ line, latitude, longitude, texts }: GpxPoint, deviceId?: string): FileItem {
  const measured: Measured = {}
  measure(measured, 'altitude', texts.get('ele'))
  measure(measured, 'accuracy', texts.get('accuracy'))
  measure(measured, 'speed', texts.get('speed'))
  measure(measured, 'heading', texts.get('course'))
  measure(measured, 'battery', texts.get('batterylevel'), 0.01)
  const sentTime = texts.get('time')
  const time = timeIn(sentTime)
  const { atemp: temperature, ...others } = typedTexts(
    otherScalars(Object.fromEntries(texts), USED),
  )
  const attributes = { temperature, ...others }
  const point = { deviceId, latitude, longitude, time, sentTime, measured, attributes }
  return { kind: 'point', place: line, point }
}

/** Measurements, the mark of our export, and descriptions of a point for people. */
const USED = new Set([
  ...['time', 'ele', 'accuracy', 'speed', 'course', 'batterylevel', 'imported'],
  ...['name', 'cmt', 'desc', 'src', 'sym', 'type', 'text'],
])
