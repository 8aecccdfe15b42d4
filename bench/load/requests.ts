import { MIDDLE } from '../../test/console/town/plane.ts'
import type { Attributes, Measurements } from '../../schemas/report/report-fields.ts'

/** The measurements of a phone beside its place. */
export const MEASURED: Required<Measurements> = {
  accuracy: 4.5,
  altitude: 112.3,
  speed: 13.9,
  heading: 271,
  battery: 0.83,
}

/** The address of requests, and their content. */
export type LoadTarget = {
  readonly url: string
  readonly key: string
  /** The keys of the connections, in turn; absent: `key`. */
  readonly keys?: readonly string[]
  /** Reports per request; 1: single submits. */
  readonly batch: number
  /** How many report in turn, each to one key; by default enough that each stays far below its limit. */
  readonly devices?: number | undefined
  /** The format; ours if absent. */
  readonly sender?: Sender
  /** The attributes of reports in our format. */
  readonly attributes?: Attributes | undefined
  /** Whether the devices drive about in many towns or in one; by default they are anywhere. */
  readonly fleet?: keyof typeof FLEETS
  /** Makes the reports, as JSON; absent: those of the fleet. */
  readonly report?: () => string
}

/** `OsmAnd` sends one report in the URL, `Overland` many. */
type Sender = 'native' | 'OsmAnd' | 'Overland'

/** The attributes that an app's report brings; a comparable one in our format has them too. */
export const APP_ATTRIBUTES: Readonly<Record<Exclude<Sender, 'native'>, Attributes | undefined>> = {
  OsmAnd: undefined,
  Overland: { activity: 'driving', charging: true, verticalAccuracy: 8 },
}

export const DEVICES = 20_000

let made = 0

/**
 * Makes the next request, as text. No two reports are equal, so each becomes one record: they
 * differ in device or coordinates. They have the fields that a phone sends, including the device's
 * own time.
 */
export function requestMaker(target: LoadTarget): () => string {
  const { url, key, keys = [key], batch, sender = 'native', fleet = 'anywhere' } = target
  const { host } = new URL(url)
  const devices = Math.ceil((target.devices ?? DEVICES) / keys.length)
  const next = (): Place => {
    made += 1
    return { deviceId: `bench-${made % devices}`, ...FLEETS[fleet](made, devices) }
  }
  if (sender === 'OsmAnd') {
    return () => `GET ${osmandUrl(key, next())} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  }
  const end = JSON.stringify({ ...MEASURED, attributes: target.attributes }).slice(1)
  const { report = () => reportAt(next()) + end } = target
  const all = (one: () => string) => Array.from({ length: batch }, one).join(',')
  const path = sender === 'native' ? (batch === 1 ? 'gps/submit' : 'gps/batch') : 'senders/overland'
  const head =
    `POST /api/v1/${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: '
  const makeBody =
    sender === 'Overland'
      ? () => `{"locations":[${all(() => feature(next()))}]}`
      : batch === 1
        ? report
        : () => `{"reports":[${all(report)}]}`
  return () => {
    const body = makeBody()
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

type Coordinates = { readonly latitude: number | string; readonly longitude: number | string }
type Place = Coordinates & { readonly deviceId: string }

/** The beginning of a report. */
function reportAt({ deviceId, latitude, longitude }: Place): string {
  return (
    `{"deviceId":"${deviceId}","latitude":${latitude},"longitude":${longitude},` +
    `"timestamp":"${new Date().toISOString()}",`
  )
}

/** The same report in OsmAnd's protocol. */
function osmandUrl(key: string, { deviceId, latitude, longitude }: Place): string {
  return (
    `/api/v1/senders/osmand/${key}?id=${deviceId}&lat=${latitude}&lon=${longitude}` +
    `&timestamp=${Date.now()}&accuracy=4.5&altitude=112.3&speed=27&bearing=271&batt=83`
  )
}

/** The same report in Overland's format, with all other fields that it sends. */
function feature({ deviceId, latitude, longitude }: Place): string {
  return (
    `{"type":"Feature","geometry":{"type":"Point","coordinates":[${longitude},${latitude}]},` +
    `"properties":{"timestamp":"${new Date().toISOString()}","altitude":112.3,"speed":13.9,` +
    '"course":271,"horizontal_accuracy":4.5,"vertical_accuracy":8,"motion":["driving"],' +
    '"pauses":false,"activity":"automotive_navigation","desired_accuracy":100,"deferred":1000,' +
    '"significant_change":"disabled","locations_in_payload":1,"battery_state":"charging",' +
    `"battery_level":0.83,"wifi":"","unique_id":"","device_id":"${deviceId}"}}`
  )
}

const TOWNS = 200

/** The coordinates of the n-th report. */
const FLEETS = {
  anywhere(n: number, devices: number): Coordinates {
    const round = Math.floor(n / devices)
    return { latitude: (round % 179_000) / 1000 - 89.4321, longitude: 13 + (n % 1000) / 1000 }
  },

  /** Some hundred metres west of the device's previous place. */
  towns(n: number, devices: number): Coordinates {
    const [device, round] = [n % devices, Math.floor(n / devices)]
    const town = device % TOWNS
    const latitude = 37 + ((town * 7.31) % 21) + 0.2 * Math.sin(device) * Math.sin(device * 7.7)
    const longitude = -8 + ((town * 3.77) % 33) + 0.3 * Math.cos(device) * Math.sin(device * 5.3)
    return { latitude: latitude.toFixed(6), longitude: (longitude - round * 0.005).toFixed(6) }
  },

  /** In the town of the test's map, some hundred metres from the device's previous place. */
  town(n: number, devices: number): Coordinates {
    const [device, round] = [n % devices, Math.floor(n / devices)]
    const latitude = MIDDLE.latitude + 0.018 * Math.sin(device) * Math.sin(device * 7.7)
    const longitude = MIDDLE.longitude + 0.027 * Math.sin(device * 5.3 + round * 0.2)
    return { latitude: latitude.toFixed(6), longitude: longitude.toFixed(6) }
  },
}
