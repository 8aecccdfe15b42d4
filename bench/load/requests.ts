import type { Attributes, Measurements } from '../../schemas/report/report-fields.ts'

/** What a phone reports besides its position. */
export const MEASURED: Required<Measurements> & { readonly attributes: Attributes } = {
  accuracy: 4.5,
  altitude: 112.3,
  speed: 13.9,
  heading: 271,
  battery: 0.83,
  attributes: { charging: false, activity: 'automotive' },
}

/** The address of requests, and their content. */
export type LoadTarget = {
  readonly url: string
  readonly key: string
  /** Reports per request; 1: single submits. */
  readonly batch: number
  /** How many devices report in rotation; by default enough that each stays far below its limit. */
  readonly devices?: number | undefined
  /** Whether the devices drive around in many towns; by default they are anywhere. */
  readonly fleet?: keyof typeof FLEETS
  /** Creates the reports, as JSON; absent: the fleet's reports. */
  readonly report?: () => string
}

export const DEVICES = 20_000

let made = 0

/**
 * Creates the next request, as text. No two reports are equal, so each becomes one record: they
 * differ in device or coordinates. They have the fields that a phone sends, including the device's
 * own time.
 */
export function requestMaker(target: LoadTarget): () => string {
  const { url, key, batch, devices = DEVICES, fleet = 'anywhere' } = target
  const end = JSON.stringify(MEASURED).slice(1)
  const ofFleet = () => {
    made += 1
    const [latitude, longitude] = FLEETS[fleet](made % devices, Math.floor(made / devices))
    return (
      `{"deviceId":"bench-${made % devices}","latitude":${latitude},"longitude":${longitude},` +
      `"timestamp":"${new Date().toISOString()}",${end}`
    )
  }
  const { report = ofFleet } = target
  const makeBody =
    batch === 1
      ? report
      : () => `{"reports":[${Array.from({ length: batch }, () => report()).join(',')}]}`
  const head =
    `POST /api/v1/gps/${batch === 1 ? 'submit' : 'batch'} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n` +
    `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: `
  return () => {
    const body = makeBody()
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

const TOWNS = 200

/** Latitude and longitude of a device in its n-th round. */
const FLEETS = {
  anywhere: (device: number, round: number) =>
    [(round % 179_000) / 1000 - 89.4321, 13 + (device % 1000) / 1000] as const,

  /** Some hundred metres west of the device's previous position. */
  towns(device: number, round: number) {
    const town = device % TOWNS
    const latitude = 37 + ((town * 7.31) % 21) + 0.2 * Math.sin(device) * Math.sin(device * 7.7)
    const longitude = -8 + ((town * 3.77) % 33) + 0.3 * Math.cos(device) * Math.sin(device * 5.3)
    return [latitude.toFixed(6), (longitude - round * 0.005).toFixed(6)] as const
  },
}
