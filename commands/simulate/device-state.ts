import { seededRandom } from './random.ts'

/** The state of a moving device beside its position. */
export type DeviceState = {
  /** A fraction. */
  readonly battery: number
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

const BATTERY_PER_S = 1 / (20 * 3600)
/** One report in this number has an alarm. */
const REPORTS_PER_ALARM = 500

/**
 * A function from a device's speed to its state, called once for each report, `intervalS` apart. The
 * same seed and index give the same states.
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
