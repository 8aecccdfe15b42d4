import { parseIso8601 } from '../../text/iso-8601.ts'
import { numberIn } from '../values.ts'

/** Degrees followed by minutes: `4807.038` is 48° 7.038′. */
const ANGLE = /^(\d{1,3})(\d\d(?:\.\d+)?)$/
const CLOCK = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/
const DAY = /^(\d\d)(\d\d)(\d\d)$/

/** A position from an NMEA 0183 RMC sentence; unreadable values are undefined, an unreadable time is NaN. */
export type Gprmc = {
  /** The receiver has no fix: the other values are old or made up. */
  readonly isVoid: boolean
  readonly latitude: number | undefined
  readonly longitude: number | undefined
  readonly time: number
  readonly knots: number | undefined
  readonly course: number | undefined
}

export function gprmcIn(sentence: string): Gprmc {
  const [, clock = '', status, latitude, south, longitude, west, knots, course, day = ''] =
    sentence.split(',')
  return {
    isVoid: status === 'V',
    latitude: degrees(latitude, south === 'S'),
    longitude: degrees(longitude, west === 'W'),
    time: timeOf(clock, day),
    knots: numberIn(knots),
    course: numberIn(course),
  }
}

function degrees(text: string | undefined, isNegative: boolean): number | undefined {
  const [, whole, minutes] = ANGLE.exec(text ?? '') ?? []
  if (whole === undefined || minutes === undefined) return undefined
  // About 0.1 m, finer than the minutes.
  const angle = Math.round((Number(whole) + Number(minutes) / 60) * 1e6) / 1e6
  return isNegative ? -angle : angle
}

function timeOf(clock: string, day: string): number {
  const [, hours, minutes, seconds] = CLOCK.exec(clock) ?? []
  const [, date, month, year] = DAY.exec(day) ?? []
  return parseIso8601(`20${year}-${month}-${date}T${hours}:${minutes}:${seconds}Z`) ?? NaN
}
