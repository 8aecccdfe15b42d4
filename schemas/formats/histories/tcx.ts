import { otherScalars } from '../sent-attributes.ts'
import { typeTexts } from '../typed-attributes.ts'
import { parseMeasurements, parseTime } from '../values.ts'
import type { FileItem, Format } from './format.ts'
import { localName, xmlReader } from './xml-reader.ts'

/**
 * The track points of watches and trainers, as exported by Garmin Connect, Strava, Polar and Zwift.
 */
export const tcxFormat: Format = {
  name: 'tcx',
  title: 'TCX',
  places: 'element',
  each: { text: '<Trackpoint', what: 'track points' },
  recognises: (head) => head.startsWith('<') && /<(?:\w+:)?TrainingCenterDatabase[\s>]/.test(head),

  async *read(text) {
    const path: string[] = []
    let texts: Map<string, string> | undefined
    let place = 0
    let items: FileItem[] = []
    const reader = xmlReader(path, {
      open(name) {
        if (localName(name) === 'Trackpoint') texts = new Map()
      },
      close(name, content) {
        if (texts === undefined) return
        const local = localName(name)
        if (local === 'Trackpoint') {
          items.push(itemOf(texts, { place: (place += 1), isPlanned: path.some(isCourses) }))
          texts = undefined
        } else if (content.trim() !== '') {
          // A heart rate is a value within its name.
          texts.set(local === 'Value' ? localName(path.at(-1) ?? '') : local, content.trim())
        }
      },
    })
    for await (const chunk of text) {
      reader.write(chunk)
      yield items
      items = []
    }
    reader.end()
  },
}

const isCourses = (name: string) => localName(name) === 'Courses'

function itemOf(
  texts: ReadonlyMap<string, string>,
  { place, isPlanned }: { place: number; isPlanned: boolean },
): FileItem {
  const [latitude, longitude] = [texts.get('LatitudeDegrees'), texts.get('LongitudeDegrees')]
  if (isPlanned) return { kind: 'other', place, what: 'points of courses' }
  if (latitude === undefined && longitude === undefined) {
    return { kind: 'other', place, what: 'track points without a position' }
  }
  const sentTime = texts.get('Time')
  const named: Record<string, string> = {}
  for (const [name, text] of texts) named[NAMES.get(name) ?? name] = text
  const attributes = typeTexts(otherScalars(named, USED))
  const measured = parseMeasurements({
    altitude: texts.get('AltitudeMeters'),
    speed: texts.get('Speed'),
  })
  const time = parseTime(sentTime)
  const point = { deviceId: undefined, latitude, longitude, time, sentTime, measured, attributes }
  return { kind: 'point', place, point }
}

/** FIT's names for the same values. */
const NAMES = new Map([
  ['HeartRateBpm', 'heart_rate'],
  ['Cadence', 'cadence'],
  ['RunCadence', 'cadence'],
  ['Watts', 'power'],
  ['DistanceMeters', 'distance'],
])
const USED = new Set([
  ...['Time', 'LatitudeDegrees', 'LongitudeDegrees', 'AltitudeMeters', 'Speed', 'SensorState'],
])
