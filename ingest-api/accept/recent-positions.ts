import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'

const RECENT_MS = 60_000
/** Enough for more than a second; after that, the store has the positions. */
const KEPT = 20_000

type DeviceName = Parameters<typeof deviceKey>[0]

/**
 * Devices from which this process has accepted a position in the last minute: the store may not
 * know them yet.
 */
export class RecentPositions {
  readonly #recent: LRUCache<string, true>

  constructor({ clock }: { clock: Clock }) {
    this.#recent = new LRUCache({ max: KEPT, ttl: RECENT_MS, ttlResolution: 0, perf: clock })
  }

  note(device: DeviceName): void {
    this.#recent.set(deviceKey(device), true)
  }

  has(device: DeviceName): boolean {
    return this.#recent.has(deviceKey(device))
  }
}
