import {
  countedLimit,
  type Count,
  type CountedLimit,
  type OpenRateCounters,
  type RateLimit,
} from '../../runtime/rate-counters.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import { allowance, type Allowance } from './allowance.ts'

/** Devices counted at once: shared counters answer over the network. */
const AT_ONCE = 100

/** The remaining allowance of a device, and whether this request exceeded it. */
export type DeviceAllowance = Allowance & { readonly exceeded: boolean }

/** Counts the requests that report for a device, per account and deviceId. */
export class DeviceLimit {
  readonly #limit: CountedLimit | undefined

  constructor({
    limit,
    openCounters,
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
  }) {
    this.#limit = countedLimit(limit, { kind: 'device', openCounters })
  }

  /** Counts one request of each device; without a limit there are no allowances. */
  async take(
    accountId: string,
    deviceIds: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DeviceAllowance>> {
    const taken = new Map<string, DeviceAllowance>()
    const limit = this.#limit
    if (limit === undefined) return taken
    const note = (deviceId: string, count: Count) => {
      const exceeded = count.consumedPoints > limit.points
      taken.set(deviceId, { exceeded, ...allowance('device', limit, count) })
    }
    const waiting: Promise<void>[] = []
    for (const deviceId of deviceIds) {
      const count = limit.counters.add(deviceKey({ accountId, deviceId }), 1)
      // Counters in memory answer at once, and a promise for each would cost more than the count.
      if (!(count instanceof Promise)) note(deviceId, count)
      else if (waiting.push(count.then((one) => note(deviceId, one))) === AT_ONCE) {
        await Promise.all(waiting.splice(0))
      }
    }
    await Promise.all(waiting)
    return taken
  }
}

/** The message of a 429. */
export function beyondDeviceLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this device may report ${points} times in ${seconds} s: send it again in ${resetSeconds} s`
}
