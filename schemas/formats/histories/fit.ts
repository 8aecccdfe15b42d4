import { parseMeasurements, convertUnit } from '../values.ts'
import { FIT_TIME, fitReader, type FitMessage } from './fit-messages.ts'
import { UnreadableError, type FileItem, type Format } from './format.ts'

/** The header's first bytes may be white space, which format detection strips. */
const HEADER = /^[^]{4,8}\.FIT/
/** Kinds of messages. */
const FILE_ID = 0
const RECORD = 20

/** Recordings of watches and bike computers. The text has one character per byte. */
export const fitFormat: Format = {
  name: 'fit',
  title: 'FIT',
  places: 'element',
  recognises: (head) => HEADER.test(head),

  async *read(text) {
    const reader = fitReader(new Set([FILE_ID, RECORD]))
    let place = 0
    let isCourse = false
    for await (const chunk of text) {
      const bytes = new Uint8Array(chunk.length)
      for (let at = 0; at < chunk.length; at += 1) bytes[at] = chunk.charCodeAt(at)
      const items: FileItem[] = []
      for (const { kind, fields } of reader.write(bytes)) {
        if (kind === FILE_ID) isCourse = fields.get(0) === COURSE
        else items.push(itemOf(fields, { place: (place += 1), isCourse }))
      }
      yield items
    }
    const fault = reader.faultAtEnd()
    if (fault !== undefined)
      throw new UnreadableError(`it is damaged: ${fault}; read before: ${place} elements`)
  },
}

/** The type of files with planned points. */
const COURSE = 6
const LATITUDE = 0
const LONGITUDE = 1
/** 1989-12-31, in seconds. */
const EPOCH = 631_065_600

/**
 * Fields of a record, by number: our name or the profile's, the divisor, and the offset subtracted
 * afterwards.
 */
const FIELDS: ReadonlyMap<number, readonly [name: string, divisor: number, offset?: number]> =
  new Map([
    [2, ['altitude', 5, 500]],
    [3, ['heart_rate', 1]],
    [4, ['cadence', 1]],
    [5, ['distance', 100]],
    [6, ['speed', 1000]],
    [7, ['power', 1]],
    [9, ['grade', 100]],
    [13, ['temperature', 1]],
    [31, ['accuracy', 1]],
    [32, ['vertical_speed', 1000]],
    [33, ['calories', 1]],
    [73, ['speed', 1000]],
    [78, ['altitude', 5, 500]],
    [81, ['battery_soc', 2]],
    [99, ['respiration_rate', 1]],
    [139, ['core_temperature', 100]],
  ])

function itemOf(
  fields: FitMessage['fields'],
  { place, isCourse }: { place: number; isCourse: boolean },
): FileItem {
  const [latitude, longitude] = [fields.get(LATITUDE), fields.get(LONGITUDE)]
  if (isCourse) return { kind: 'other', place, what: 'points of courses' }
  if (latitude === undefined || longitude === undefined) {
    return { kind: 'other', place, what: 'records without a position' }
  }
  const named: Record<string, number> = {}
  for (const [number, [name, divisor, offset = 0]] of FIELDS) {
    const value = fields.get(number)
    // An "enhanced" field, with a higher number, is more accurate.
    if (value !== undefined) named[name] = convertUnit(value / divisor - offset, 1)
  }
  const { accuracy, altitude, speed, ...attributes } = named
  const seconds = fields.get(FIT_TIME)
  const time = seconds === undefined ? NaN : (seconds + EPOCH) * 1000
  const point = {
    deviceId: undefined,
    latitude: degrees(latitude),
    longitude: degrees(longitude),
    time,
    sentTime: seconds,
    measured: parseMeasurements({ accuracy, altitude, speed }),
    attributes,
  }
  return { kind: 'point', place, point }
}

/** Degrees from 2^31 for 180: exactly equal to the same recording as GPX. */
function degrees(semicircles: number): number {
  return (semicircles * 180) / 2 ** 31
}
