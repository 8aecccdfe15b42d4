import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { GeofenceIndex, prepared, type PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import type { DefinitionStore } from '../../store/definitions.ts'

/** Looked at again each time: another process may have set the time of a change before it was stored. */
const OVERLAP_MS = 60_000
/** Deletions are known for a day: after a longer pause everything is read again. */
const LONGEST_PAUSE_MS = 12 * 3_600_000
const READ_AT_ONCE = 500
const ACCOUNTS_KEPT = 20

type Geofences = Pick<DefinitionStore, 'pageGeofences' | 'changedGeofences'>

/** The geofences of the accounts that ask for places, read again after a change. */
export class AccountGeofences {
  readonly #store: Geofences
  readonly #clock: Clock
  readonly #accounts = new LRUCache<string, Promise<GeofenceIndex>>({ max: ACCOUNTS_KEPT })
  /** The versions of what has changed within the overlap. */
  #seen = new Map<string, number>()
  #checkedAt = -Infinity

  constructor({ store, clock }: { store: Geofences; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  async of(accountId: string): Promise<GeofenceIndex> {
    await this.#check()
    const known = this.#accounts.get(accountId)
    if (known !== undefined) return known
    const index = this.#read(accountId)
    this.#accounts.set(accountId, index)
    index.catch(() => this.#accounts.delete(accountId))
    return index
  }

  /** Forgets the accounts whose geofences have changed since they were read. */
  async #check(): Promise<void> {
    const now = this.#clock.now()
    if (now - this.#checkedAt > LONGEST_PAUSE_MS) this.#accounts.clear()
    const from = Math.max(this.#checkedAt, now - LONGEST_PAUSE_MS) - OVERLAP_MS
    const seen = new Map<string, number>()
    let page = await this.#store.changedGeofences({ from, limit: READ_AT_ONCE })
    for (;;) {
      for (const { id, version, definition } of page) {
        seen.set(id, version)
        if (this.#seen.get(id) === version) continue
        if (definition === undefined) await this.#forgetHolderOf(id)
        else this.#accounts.delete(definition.accountId)
      }
      const after = page.at(-1)
      if (after === undefined || page.length < READ_AT_ONCE) break
      page = await this.#store.changedGeofences({ from, limit: READ_AT_ONCE, after })
    }
    this.#seen = seen
    this.#checkedAt = now
  }

  async #forgetHolderOf(geofenceId: string): Promise<void> {
    for (const [accountId, index] of this.#accounts.entries()) {
      if ((await index).get(geofenceId) !== undefined) this.#accounts.delete(accountId)
    }
  }

  async #read(accountId: string): Promise<GeofenceIndex> {
    const geofences: PreparedGeofence[] = []
    let page = await this.#store.pageGeofences({ accountId, limit: READ_AT_ONCE })
    for (;;) {
      for (const geofence of page) geofences.push(prepared(geofence))
      const after = page.at(-1)
      if (after === undefined || page.length < READ_AT_ONCE) return new GeofenceIndex(geofences)
      await endOfTurn()
      page = await this.#store.pageGeofences({ accountId, limit: READ_AT_ONCE, after })
    }
  }
}
