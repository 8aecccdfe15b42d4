import {
  countedLimit,
  type CountedLimit,
  type OpenRateCounters,
  type RateLimit,
} from '../../runtime/rate-counters.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import { allowance, type Allowance } from './allowance.ts'

/** Devices counted concurrently: shared counters answer over the network. */
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
    const all = [...deviceIds]
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const some = all.slice(from, from + AT_ONCE)
      const counts = await Promise.all(
        some.map((deviceId) => limit.counters.add(deviceKey({ accountId, deviceId }), 1)),
      )
      some.forEach((deviceId, index) => {
        const count = counts[index]!
        const exceeded = count.consumedPoints > limit.points
        taken.set(deviceId, { exceeded, ...allowance('device', limit, count) })
      })
    }
    return taken
  }
}

/** The message of a 429. */
export function beyondDeviceLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this device may report ${points} times in ${seconds} s: send it again in ${resetSeconds} s`
}
