import type { Clock } from '../../runtime/clock.ts'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import type { DeviceSelection } from '../../schemas/definitions/selection.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { DefinitionStore } from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { GeofenceIndex, prepared, type PreparedGeofence } from '../../schemas/geo/geofence-index.ts'

type Changes = Pick<DefinitionStore, 'changedGeofences' | 'changedRules'>

type OfAccount = {
  readonly geofences: Map<string, PreparedGeofence>
  readonly rules: Map<string, DeviceRule>
  /** The index of these geofences; undefined: not made yet. */
  index?: GeofenceIndex | undefined
  inUse?: InUse
}

/** The definitions by which devices are judged, as of the last refresh. */
type InUse = {
  readonly index: GeofenceIndex
  /** The enabled ones. */
  readonly rules: readonly DeviceRule[]
}

/** A geofence in which devices must be looked for: it is new, or another shape, selection or time applies. */
export type ChangedGeofence = PreparedGeofence & {
  /** It was there before this process, and may have been looked at. */
  readonly wasThere: boolean
}

/**
 * The geofences and rules of all accounts, as of the last refresh: those of an account change all at once, when
 * their index is made. One refresh at a time.
 */
export class KnownDefinitions {
  readonly #geofences: ChangesFollower<Geofence>
  readonly #rules: ChangesFollower<DeviceRule>
  readonly #accounts = new Map<string, OfAccount>()
  /** The account of each geofence and rule. */
  readonly #holders = new Map<string, string>()
  /** Accounts with definitions that are read, and not in use yet. */
  readonly #stale = new Set<OfAccount>()
  #found: ChangedGeofence[] = []
  #changed: ChangedGeofence[] = []
  #isRead = false

  constructor(store: Changes, clock: Clock) {
    this.#geofences = new ChangesFollower((query) => store.changedGeofences(query), { clock })
    this.#rules = new ChangesFollower((query) => store.changedRules(query), { clock })
  }

  /** Reads what has changed. Returns the accounts of which rules about silence have. */
  async refresh(): Promise<ReadonlySet<string>> {
    const silences = new Set<string>()
    const turnEnds = turnTaker()
    const named = sharedNames()
    for await (const changes of this.#geofences.changes()) {
      for (const { id, definition } of changes) {
        const account = this.#accountOf(id, definition)
        if (account === undefined) continue
        this.#stale.add(account)
        account.index = undefined
        const before = account.geofences.get(id)?.geofence
        if (definition === undefined) account.geofences.delete(id)
        else {
          const known = prepared({ ...definition, ...named(definition) })
          account.geofences.set(id, known)
          if (definition.enabled && definition.inForceSince !== before?.inForceSince) {
            this.#found.push({ ...known, wasThere: !this.#isRead })
          }
        }
        await turnEnds()
      }
    }
    for await (const changes of this.#rules.changes()) {
      for (const { id, definition } of changes) {
        const account = this.#accountOf(id, definition)
        if (account === undefined) continue
        this.#stale.add(account)
        if (definition === undefined) account.rules.delete(id)
        else account.rules.set(id, { ...definition, ...named(definition) })
        if (definition !== undefined && 'silent' in definition.when) {
          silences.add(definition.accountId)
        }
      }
    }
    for (const account of this.#stale) {
      account.inUse = await inUse(account, turnEnds)
      this.#stale.delete(account)
    }
    this.#changed = [...this.#changed, ...this.#found]
    this.#found = []
    this.#isRead = true
    return silences
  }

  /** Since the last call. */
  takeChangedGeofences(): readonly ChangedGeofence[] {
    const changed = this.#changed
    this.#changed = []
    return changed
  }

  /** Undefined: the account has neither geofences nor rules. */
  of(accountId: string): InUse | undefined {
    return this.#accounts.get(accountId)?.inUse
  }

  /** Undefined: it was deleted before this process knew it. */
  #accountOf(
    id: string,
    definition: { readonly accountId: string } | undefined,
  ): OfAccount | undefined {
    const accountId = definition?.accountId ?? this.#holders.get(id)
    if (accountId === undefined) return undefined
    if (definition === undefined) this.#holders.delete(id)
    else this.#holders.set(id, accountId)
    const account = this.#accounts.get(accountId) ?? { geofences: new Map(), rules: new Map() }
    this.#accounts.set(accountId, account)
    return account
  }
}

/** Many definitions may name the same devices: each id is kept once. */
function sharedNames() {
  const ids = new Map<string, string>()
  const shared = (id: string) => {
    const known = ids.get(id)
    if (known === undefined) ids.set(id, id)
    return known ?? id
  }
  return ({ deviceIds }: DeviceSelection) =>
    deviceIds !== undefined && { deviceIds: deviceIds.map(shared) }
}

async function inUse(account: OfAccount, turnEnds: () => Promise<void>): Promise<InUse> {
  account.index ??= await GeofenceIndex.inTurns(account.geofences.values(), turnEnds)
  return {
    index: account.index,
    rules: [...account.rules.values()]
      .filter(({ enabled }) => enabled)
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}
