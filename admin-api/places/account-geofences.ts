import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/read-pages.ts'
import type { Geofence } from '../../schemas/geofence.ts'
import { GeofenceIndex, prepared, type PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import type { ChangedDefinition, DefinitionStore } from '../../store/definitions.ts'

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
    const pages = readPages<ChangedDefinition<Geofence>>(READ_AT_ONCE, (page) =>
      this.#store.changedGeofences({ from, ...page }),
    )
    for await (const page of pages) {
      for (const { id, version, definition } of page) {
        seen.set(id, version)
        if (this.#seen.get(id) === version) continue
        if (definition === undefined) await this.#forgetHolderOf(id)
        else this.#accounts.delete(definition.accountId)
      }
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
    const pages = readPages<Geofence>(READ_AT_ONCE, (page) =>
      this.#store.pageGeofences({ accountId, ...page }),
    )
    for await (const page of pages) for (const one of page) geofences.push(prepared(one))
    return new GeofenceIndex(geofences)
  }
}
