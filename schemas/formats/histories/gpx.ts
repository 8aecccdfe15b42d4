import { nonNegativeNumber, otherScalars } from '../sent-attributes.ts'
import { typeTexts } from '../typed-attributes.ts'
import { parseTime, PERCENT, measure, parseMeasurements, parseText } from '../values.ts'
import type { Format, FileItem } from './format.ts'
import { FIELD_NAMES } from './named-fields.ts'
import { gpxPoints, OUR_CREATOR, type GpxPoint } from './gpx-points.ts'

export const gpxFormat: Format = {
  name: 'gpx',
  title: 'GPX',
  places: 'line',
  each: { text: 'trkpt ', what: 'track points', isPoint: true },
  recognises: (head) => head.startsWith('<') && /<(?:\w+:)?gpx[\s>]/.test(head),

  async *read(text) {
    const reader = gpxPoints()
    for await (const chunk of text) {
      const { points, others } = reader.write(chunk)
      const creator = reader.creator()
      yield [
        ...points.map((point) => itemOf(point, creator)),
        ...others.map(({ line, what }) => ({ kind: 'other', place: line, what }) as const),
      ]
    }
    reader.end()
  },
}

function itemOf({ line, track, ...point }: GpxPoint, creator: string | undefined): FileItem {
  const { latitude, own, extensions } = point
  const isOwnExport = creator === OUR_CREATOR
  // PhoneTrack, like our export, names each track after its device.
  const isDevice = isOwnExport || /^PhoneTrack\b/.test(creator ?? '')
  const deviceId = isDevice ? parseText(track) : undefined
  const textOf = (...names: readonly string[]) => {
    const name = names.find((one) => own.has(one) || extensions.has(one)) ?? ''
    return own.get(name) ?? extensions.get(name)
  }
  const measured = parseMeasurements(
    {
      accuracy: textOf(...FIELD_NAMES.accuracy),
      altitude: own.get('ele'),
      speed: textOf('speed'),
      heading: textOf('course', 'bearing'),
      battery: textOf('batterylevel'),
    },
    PERCENT,
  )
  if (isOwnExport) {
    measure(measured, 'heading', extensions.get('heading'))
    measure(measured, 'battery', extensions.get('battery'))
  }
  const longitude = (isOwnExport ? extensions.get('longitude') : undefined) ?? point.longitude
  const sentTime = own.get('time')
  const time = parseTime(sentTime)
  const verticalAccuracy = nonNegativeNumber(textOf(...FIELD_NAMES.verticalAccuracy))
  const attributes = isOwnExport
    ? Object.fromEntries(point.attributes)
    : { verticalAccuracy, ...otherTexts(point) }
  const read = { deviceId, latitude, longitude, time, sentTime, measured, attributes }
  return { kind: 'point', place: line, point: read }
}

function otherTexts({ own, extensions }: Pick<GpxPoint, 'own' | 'extensions'>) {
  const texts = Object.fromEntries([...extensions, ...own])
  const { atemp: temperature, ...others } = otherScalars(texts, USED)
  return typeTexts({ temperature, ...others })
}

/** Measurements, and descriptions of a point for people. */
const USED = new Set([
  ...['lat', 'lon', 'time', 'ele', 'speed', 'course', 'bearing', 'batterylevel'],
  ...[...FIELD_NAMES.accuracy, ...FIELD_NAMES.verticalAccuracy],
  ...['name', 'cmt', 'desc', 'src', 'sym', 'type', 'url', 'urlname'],
])
