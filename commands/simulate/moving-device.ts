import {
  degrees,
  EARTH_RADIUS_METRES,
  metresBetween,
  radians,
  type Coordinates,
} from '../../schemas/geo/distance.ts'

/** A position in WGS84 degrees, metres, metres per second, degrees from north. */
export type MovingPosition = {
  readonly latitude: number
  readonly longitude: number
  readonly altitude: number
  readonly accuracy: number
  readonly speed: number
  readonly heading: number
}

const CITY = { latitude: 46.0569, longitude: 14.5058, radiusM: 6_000, altitudeM: 298 }
/** A walker, a cyclist and a car, in m/s. */
const CRUISING_SPEEDS = [1.4, 5, 12]

/**
 * An endless path, one position every `intervalS` seconds: the device starts somewhere in the city,
 * wanders with a slowly changing heading and a speed that varies around its cruising speed, and
 * turns back at the edge of the city. The same seed and index give the same path.
 */
export function* movingDevice({
  seed,
  index,
  intervalS,
}: {
  seed: number
  index: number
  intervalS: number
}): Generator<MovingPosition, never> {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const cruising = CRUISING_SPEEDS[Math.floor(random() * CRUISING_SPEEDS.length)] ?? 1.4
  let place = destination(CITY, random() * 360, Math.sqrt(random()) * CITY.radiusM)
  let heading = random() * 360
  let speed = cruising
  let altitude = CITY.altitudeM + normal(random) * 5
  let accuracy = 4 + random() * 6
  for (;;) {
    yield {
      latitude: round(place.latitude, 7),
      longitude: round(place.longitude, 7),
      altitude: round(altitude, 1),
      accuracy: round(accuracy, 1),
      speed: round(speed, 2),
      heading: round(heading, 1),
    }
    // Random changes grow with the square root of time, so that the path does not depend on the rate.
    const stir = Math.sqrt(Math.min(intervalS, 60))
    const home = metresBetween(place, CITY) > CITY.radiusM ? directionTo(place, CITY) : undefined
    heading =
      home === undefined
        ? turn(heading, normal(random) * 8 * stir)
        : interpolateHalfway(heading, home)
    const pull = Math.min(1, 0.1 * intervalS)
    speed += (cruising - speed) * pull + normal(random) * cruising * 0.08 * stir
    speed = clamp(speed, 0, cruising * 2)
    altitude += (CITY.altitudeM - altitude) * pull * 0.1 + normal(random) * 0.3 * stir
    accuracy = clamp(accuracy + normal(random) * 0.4 * stir, 2, 25)
    place = destination(place, heading, speed * intervalS)
  }
}

/** The point `metres` from another along the great circle of a heading, on a sphere. */
function destination(from: Coordinates, heading: number, metres: number): Coordinates {
  const angle = metres / EARTH_RADIUS_METRES
  const course = radians(heading)
  const latitude = radians(from.latitude)
  const sine =
    Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(course)
  const east = Math.atan2(
    Math.sin(course) * Math.sin(angle) * Math.cos(latitude),
    Math.cos(angle) - Math.sin(latitude) * sine,
  )
  const longitude = from.longitude + degrees(east)
  return { latitude: degrees(Math.asin(sine)), longitude: ((longitude + 540) % 360) - 180 }
}

function directionTo(from: Coordinates, to: Coordinates): number {
  const [a, b] = [radians(from.latitude), radians(to.latitude)]
  const east = radians(to.longitude - from.longitude)
  const y = Math.sin(east) * Math.cos(b)
  const x = Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(east)
  return turn(degrees(Math.atan2(y, x)), 0)
}

function interpolateHalfway(from: number, to: number): number {
  return turn(from, (((to - from + 540) % 360) - 180) / 2)
}

function turn(heading: number, by: number): number {
  return (((heading + by) % 360) + 360) % 360
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}

/** Pseudo-random numbers in [0, 1), the same for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Roughly normal with mean 0 and variance 1, within ±6: a sum of twelve uniform numbers. */
function normal(random: () => number): number {
  let sum = -6
  for (let drawn = 0; drawn < 12; drawn += 1) sum += random()
  return sum
}

/** The state of a moving device apart from its position. */
type DeviceState = {
  /** A fraction. */
  readonly battery: number
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

const BATTERY_PER_S = 1 / (20 * 3600)
/** One in this many reports has an alarm. */
const REPORTS_PER_ALARM = 500

/**
 * A function from a device's speed to its state, called once for each report, `intervalS` apart.
 * The same seed and index give the same states.
 */
export function deviceState({
  seed,
  index,
  intervalS,
  attributes,
}: {
  seed: number
  index: number
  intervalS: number
  /** Whether it reports attributes. */
  attributes: boolean
}): (speed: number) => DeviceState {
  const random = seededRandom(Math.imul(seed, 0x27d4eb2f) ^ Math.imul(index + 1, 0x165667b1))
  let battery = 0.3 + random() * 0.7
  let odometer = random() * 200_000_000

  return (speed) => {
    battery = Math.max(0.02, battery - BATTERY_PER_S * intervalS)
    odometer += speed * intervalS
    const charge = { battery: Math.round(battery * 10_000) / 10_000 }
    if (!attributes) return charge
    const motion = speed > 0.5
    const known = { ignition: motion, motion, odometer: Math.round(odometer) }
    const satellites = 6 + Math.floor(random() * 8)
    const alarm = random() < 1 / REPORTS_PER_ALARM && { alarm: 'sos' }
    return { ...charge, attributes: { ...known, satellites, ...alarm } }
  }
}
