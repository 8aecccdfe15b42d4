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
  /**
   * The number of devices that report in turn; by default enough that each stays far below its
   * limit.
   */
  readonly devices?: number | undefined
  /** The format; ours if absent. */
  readonly sender?: Sender
  /** The attributes of reports in our format. */
  readonly attributes?: Attributes | undefined
  /** Whether the devices drive about in many towns or in one; by default they are anywhere. */
  readonly fleet?: keyof typeof FLEETS
}

/** `OsmAnd` sends one report in the URL, `Overland` many. */
type Sender = 'native' | 'OsmAnd' | 'Overland'

/** The attributes that an app's report brings; a comparable one in our format has them too. */
export const APP_ATTRIBUTES: Readonly<Record<Exclude<Sender, 'native'>, Attributes | undefined>> = {
  OsmAnd: undefined,
  Overland: { activity: 'driving', charging: true, verticalAccuracy: 8 },
}

const DEVICES = 20_000

let made = 0

/**
 * Makes the next request, as text. No two reports are equal, so each becomes one record: they
 * differ in device or coordinates. They have the fields that a phone sends, including the device's
 * own time.
 */
export function requestMaker({
  url,
  key,
  batch,
  devices = DEVICES,
  sender = 'native',
  attributes,
  fleet,
}: Omit<LoadTarget, 'keys'>): () => string {
  const { host } = new URL(url)
  if (sender === 'OsmAnd') {
    return () => `GET ${osmandUrl(key, devices)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  }
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: '
  if (sender === 'Overland') {
    const overland = head('/api/v1/senders/overland')
    return () => {
      const body = `{"locations":[${Array.from({ length: batch }, () => feature(devices)).join(',')}]}`
      return `${overland}${body.length}\r\n\r\n${body}`
    }
  }
  const native = head(batch === 1 ? '/api/v1/gps/submit' : '/api/v1/gps/batch')
  const placeOf = fleet === undefined ? anywhere : FLEETS[fleet]
  const end = JSON.stringify({ ...MEASURED, attributes }).slice(1)
  const report = () => reportAt(placeOf, devices) + end
  return () => {
    const body = batch === 1 ? report() : `{"reports":[${reports(batch, report)}]}`
    return `${native}${body.length}\r\n\r\n${body}`
  }
}

/** The n-th report's coordinates as JSON. */
type PlaceOf = (n: number, devices: number) => string

function reports(count: number, report: () => string): string {
  let text = report()
  for (let more = 1; more < count; more += 1) text += `,${report()}`
  return text
}

/** The beginning of a report. */
function reportAt(placeOf: PlaceOf, devices: number): string {
  made += 1
  return (
    `{"deviceId":"bench-${made % devices}",${placeOf(made, devices)}` +
    `,"timestamp":"${new Date().toISOString()}",`
  )
}

/** The same report in OsmAnd's protocol. */
function osmandUrl(key: string, devices: number): string {
  made += 1
  const { latitude, longitude } = coordinates(made, devices)
  return (
    `/api/v1/senders/osmand/${key}?id=bench-${made % devices}&lat=${latitude}&lon=${longitude}` +
    `&timestamp=${Date.now()}&accuracy=4.5&altitude=112.3&speed=27&bearing=271&batt=83`
  )
}

/** The same report in Overland's format, with all other fields that it sends. */
function feature(devices: number): string {
  made += 1
  const { latitude, longitude } = coordinates(made, devices)
  return (
    `{"type":"Feature","geometry":{"type":"Point","coordinates":[${longitude},${latitude}]},` +
    `"properties":{"timestamp":"${new Date().toISOString()}","altitude":112.3,"speed":13.9,` +
    '"course":271,"horizontal_accuracy":4.5,"vertical_accuracy":8,"motion":["driving"],' +
    '"pauses":false,"activity":"automotive_navigation","desired_accuracy":100,"deferred":1000,' +
    '"significant_change":"disabled","locations_in_payload":1,"battery_state":"charging",' +
    `"battery_level":0.83,"wifi":"","unique_id":"","device_id":"bench-${made % devices}"}}`
  )
}

function coordinates(n: number, devices: number) {
  const round = Math.floor(n / devices)
  return { latitude: (round % 179_000) / 1000 - 89.4321, longitude: 13 + (n % 1000) / 1000 }
}

function anywhere(n: number, devices: number): string {
  const { latitude, longitude } = coordinates(n, devices)
  return `"latitude":${latitude},"longitude":${longitude}`
}

const TOWNS = 200

/** Some hundred metres west of the device's previous place. */
function inTowns(n: number, devices: number): string {
  const [device, round] = [n % devices, Math.floor(n / devices)]
  const town = device % TOWNS
  const latitude = 37 + ((town * 7.31) % 21) + 0.2 * Math.sin(device) * Math.sin(device * 7.7)
  const longitude = -8 + ((town * 3.77) % 33) + 0.3 * Math.cos(device) * Math.sin(device * 5.3)
  return `"latitude":${latitude.toFixed(6)},"longitude":${(longitude - round * 0.005).toFixed(6)}`
}

/** In the town of the test's map, some hundred metres from the device's previous place. */
function inOneTown(n: number, devices: number): string {
  const [device, round] = [n % devices, Math.floor(n / devices)]
  const latitude = MIDDLE.latitude + 0.018 * Math.sin(device) * Math.sin(device * 7.7)
  const longitude = MIDDLE.longitude + 0.027 * Math.sin(device * 5.3 + round * 0.2)
  return `"latitude":${latitude.toFixed(6)},"longitude":${longitude.toFixed(6)}`
}

const FLEETS = { towns: inTowns, town: inOneTown } as const
