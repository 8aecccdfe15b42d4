import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'

const RECENT_MS = 60_000
/** More than a second's, after which the store knows them. */
const KEPT = 20_000

export type Device = { readonly accountId: string; readonly deviceId: string }

/** The devices of which this process has accepted a position in the last minute: the store may not know them yet. */
export class RecentPositions {
  readonly #recent: LRUCache<string, true>

  constructor({ clock }: { clock: Clock }) {
    this.#recent = new LRUCache({ max: KEPT, ttl: RECENT_MS, ttlResolution: 0, perf: clock })
  }

  note(device: Device): void {
    this.#recent.set(idOf(device), true)
  }

  has(device: Device): boolean {
    return this.#recent.has(idOf(device))
  }
}

/** Names the device in all accounts. */
export function idOf({ accountId, deviceId }: Device): string {
  return `${accountId}/${deviceId}`
}
