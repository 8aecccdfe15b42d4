import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import {
  GeofenceIndex,
  prepareGeofence,
  type PreparedGeofence,
} from '../../schemas/geo/geofence-index.ts'
import type { DefinitionStore, NamedDefinition } from '../../store/definitions.ts'

type Geofences = Pick<
  DefinitionStore,
  'findGeofence' | 'pageGeofenceNames' | 'newestGeofenceVersion'
>

type Held = {
  readonly index: GeofenceIndex
  readonly known: ReadonlyMap<string, { readonly version: number; readonly one: PreparedGeofence }>
  readonly newest: number
  readonly readAt: number
}

const READ_AT_ONCE = 250
const ACCOUNTS_KEPT = 20
/** Total number of cached geofences; an account may have 10 000. */
const GEOFENCES_KEPT = 40_000
/**
 * Accounts with up to this many geofences are read without a pause. Larger accounts pause, but
 * still learn of changes within 5 s.
 */
const READ_AT_ANY_TIME = 1_000
const PAUSE_MS_PER_GEOFENCE = 0.4
/** Versions do not always become visible in order. */
const READ_AGAIN_MS = 60_000

/**
 * The geofences of the accounts that look up place names. After a change, only the account's
 * changes are read.
 */
export class AccountGeofences {
  readonly #store: Geofences
  readonly #clock: Clock
  readonly #accounts = new LRUCache<string, Held>({
    max: ACCOUNTS_KEPT,
    maxSize: GEOFENCES_KEPT,
    sizeCalculation: ({ known }) => known.size + 1,
  })
  readonly #reading = new Map<string, Promise<GeofenceIndex>>()

  constructor({ store, clock }: { store: Geofences; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  async of(accountId: string): Promise<GeofenceIndex> {
    const held = this.#accounts.get(accountId)
    if (held !== undefined && !this.#isRested(held)) return held.index
    const reading = this.#reading.get(accountId) ?? this.#refresh(accountId, held)
    this.#reading.set(accountId, reading)
    try {
      return await reading
    } finally {
      this.#reading.delete(accountId)
    }
  }

  /** A large account is read less often, so that its frequent changes cost others little. */
  #isRested({ readAt, known }: Held): boolean {
    const pause = Math.max(0, known.size - READ_AT_ANY_TIME) * PAUSE_MS_PER_GEOFENCE
    const age = this.#clock.now() - readAt
    return age < 0 || age >= pause
  }

  async #refresh(accountId: string, held: Held | undefined): Promise<GeofenceIndex> {
    const now = this.#clock.now()
    const newest = await this.#store.newestGeofenceVersion(accountId)
    const age = now - (held?.readAt ?? -Infinity)
    if (held?.newest === newest && age >= 0 && age < READ_AGAIN_MS) return held.index
    const known = new Map<string, { version: number; one: PreparedGeofence }>()
    let isChanged = held === undefined
    const turnEnds = turnTaker()
    const pages = readPages<NamedDefinition>(READ_AT_ONCE, (page) =>
      this.#store.pageGeofenceNames({ accountId, ...page }),
    )
    for await (const page of pages) {
      for (const { id, version } of page) {
        const before = held?.known.get(id)
        if (before?.version === version) {
          known.set(id, before)
          continue
        }
        isChanged = true
        const geofence = await this.#store.findGeofence({ accountId, id })
        if (geofence !== undefined) known.set(id, { version, one: prepareGeofence(geofence) })
        await turnEnds()
      }
    }
    isChanged ||= known.size !== held?.known.size
    const index = isChanged || held === undefined ? await indexOf(known, turnEnds) : held.index
    this.#accounts.set(accountId, { index, known, newest, readAt: now })
    return index
  }
}

function indexOf(known: Held['known'], turnEnds: () => Promise<void>): Promise<GeofenceIndex> {
  return GeofenceIndex.inTurns(
    Array.from(known.values(), ({ one }) => one),
    turnEnds,
  )
}
