import type { TrackStep } from '../../../schemas/devices/read-models.ts'
import { T0 } from '../../samples.ts'

export const METRE = 1 / 111_195
export const MINUTE = 60_000

type Leg = {
  readonly minutes: number
  /** Metres per second, to the north. */
  readonly speed?: number
  /** The largest error of a position, in metres. */
  readonly jitter?: number
  readonly accuracy?: number | null
  readonly everyMs?: number
  /** Metres to the north travelled unseen. */
  readonly leap?: number
  /** Whether the device is silent. */
  readonly silent?: boolean
}

/** Steps of a device that follows these legs from 52° north, with the same errors each time. */
export function journey(...legs: readonly Leg[]): TrackStep[] {
  const steps: TrackStep[] = []
  let [time, north] = [T0, 0]
  for (const { minutes, speed = 0, jitter = 0, leap = 0, ...leg } of legs) {
    const { accuracy = null, everyMs = 10_000, silent = false } = leg
    const end = time + minutes * MINUTE
    north += leap
    for (; time < end; time += everyMs) {
      const n = steps.length
      const [a, b] = [Math.sin(n * 12.9898) * jitter, Math.cos(n * 78.233) * jitter]
      const latitude = 52 + (north + a / Math.SQRT2) * METRE
      const longitude = 13 + (b * METRE) / Math.SQRT2 / Math.cos((52 / 180) * Math.PI)
      if (!silent) steps.push(trackStep({ timestamp: time, latitude, longitude, accuracy }, n))
      north += (speed * everyMs) / 1_000
    }
  }
  return steps
}

/** The `n`th step of a device. */
export function trackStep(
  { speed = null, accuracy = null, ...at }: StepFields,
  n: number,
): TrackStep {
  const recordId = `R${String(n).padStart(9, '0')}`
  return { ...at, speed, accuracy, recordId, origin: { partition: 0, offset: n } }
}

type StepFields = Pick<TrackStep, 'timestamp' | 'latitude' | 'longitude'> &
  Partial<Pick<TrackStep, 'speed' | 'accuracy'>>
