import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { placeText } from '../../core/place-words.ts'
import { metresBetween, type Coordinates } from '../../../schemas/geo/distance.ts'
import { markChanged } from '../../live/announce-changes.ts'

/** Maximum number of positions per call. */
const MOST_PLACES = 200
/** Five decimals are a metre, enough for a name. */
const DECIMALS = 5
/** A device that has moved by less than this is still near the same town. */
const NEAR_METRES = 500
/** Minimum time between calls, however fast the list is scrolled. */
const ASK_EVERY_MS = 1_000
/** After a failure. */
const ASK_AGAIN_MS = 30_000

/** The name at a position; null if no town is near. */
type Place = components['schemas']['Place']
type Known = { readonly at: Coordinates; readonly place: Place }

const known = new WeakMap<LiveDevice, Known>()
let wanted: readonly LiveDevice[] = []
let timer: ReturnType<typeof setTimeout> | undefined

/** The name of the town or geofence that a device is in or near, if it has been requested. */
export function placeName(device: LiveDevice): string | undefined {
  return placeText(known.get(device)?.place ?? null)
}

/** Requests the place names of devices in view; `placeName` soon returns them. */
export function askPlaces(devices: readonly LiveDevice[]): void {
  wanted = devices
  if (timer !== undefined || !devices.some(isUnknown)) return
  timer = setTimeout(() => {
    ask().catch(() => undefined)
  })
}

async function ask(): Promise<void> {
  const devices = wanted.filter(isUnknown).slice(0, MOST_PLACES)
  let waitMs = ASK_AGAIN_MS
  try {
    await read(devices)
    markChanged()
    waitMs = ASK_EVERY_MS
  } finally {
    timer = setTimeout(() => {
      timer = undefined
      askPlaces(wanted)
    }, waitMs)
  }
}

/** Reads the place names of all these devices; then `placeName` returns them. */
export async function readPlaces(devices: readonly LiveDevice[]): Promise<void> {
  const unknown = devices.filter(isUnknown)
  for (let at = 0; at < unknown.length; at += MOST_PLACES) {
    await read(unknown.slice(at, at + MOST_PLACES))
  }
}

async function read(devices: readonly LiveDevice[]): Promise<void> {
  const positions = devices.map(({ position }) => position)
  const { items } = await api.get('/places', { query: { at: positions.map(coordinates) } })
  devices.forEach((device, index) => {
    const at = positions[index]
    if (at !== undefined) known.set(device, { at, place: items[index] ?? null })
  })
}

function isUnknown(device: LiveDevice): boolean {
  const before = known.get(device)
  return before === undefined || metresBetween(before.at, device.position) > NEAR_METRES
}

function coordinates({ latitude, longitude }: Coordinates): string {
  return `${latitude.toFixed(DECIMALS)},${longitude.toFixed(DECIMALS)}`
}
