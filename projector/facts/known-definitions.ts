import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/read-pages.ts'
import type { DeviceRule } from '../../schemas/device-rule.ts'
import type { Geofence } from '../../schemas/geofence.ts'
import type { ChangedDefinition, ChangesQuery, DefinitionStore } from '../../store/definitions.ts'
import { GeofenceIndex, prepared, type PreparedGeofence } from '../../schemas/geo/geofence-index.ts'

/** Read again each time: another process may have set the time of a change before it was stored. */
const OVERLAP_MS = 60_000
/** Deletions are known for a day: a process that slept for longer than this reads everything again. */
const LONGEST_PAUSE_MS = 12 * 3_600_000
const READ_AT_ONCE = 500

type Changes = Pick<DefinitionStore, 'changedGeofences' | 'changedRules'>

type OfAccount = {
  readonly geofences: Map<string, PreparedGeofence>
  readonly rules: Map<string, DeviceRule>
  /** Made when it is first needed after a change. */
  index?: GeofenceIndex | undefined
  enabledRules?: readonly DeviceRule[] | undefined
}

/** The geofences and rules of all accounts, as of the last refresh. */
export class KnownDefinitions {
  readonly #store: Changes
  readonly #clock: Clock
  #accounts = new Map<string, OfAccount>()
  /** The account and version of each, by its kind and id. */
  #known = new Map<string, { readonly accountId: string; readonly version: number }>()
  #readAt = -Infinity

  constructor(store: Changes, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Reads what has changed. Returns the accounts of which rules about silence have. */
  async refresh(): Promise<ReadonlySet<string>> {
    const now = this.#clock.now()
    if (now - this.#readAt > LONGEST_PAUSE_MS) {
      this.#accounts = new Map()
      this.#known = new Map()
    }
    const from = this.#known.size === 0 ? 0 : this.#readAt - OVERLAP_MS
    const silences = new Set<string>()
    const geofences = (query: ChangesQuery) => this.#store.changedGeofences(query)
    for await (const change of changesOf<Geofence>(geofences, from)) {
      this.#take('geofence', change, (account, geofence) => {
        account.index = undefined
        if (geofence === undefined) account.geofences.delete(change.id)
        else account.geofences.set(change.id, prepared(geofence))
      })
    }
    const rules = (query: ChangesQuery) => this.#store.changedRules(query)
    for await (const change of changesOf<DeviceRule>(rules, from)) {
      this.#take('rule', change, (account, rule) => {
        account.enabledRules = undefined
        if (rule === undefined) account.rules.delete(change.id)
        else {
          account.rules.set(change.id, rule)
          if ('silent' in rule.when) silences.add(rule.accountId)
        }
      })
    }
    this.#readAt = now
    return silences
  }

  /** Undefined: the account has neither geofences nor rules. */
  of(accountId: string): { index: GeofenceIndex; rules: readonly DeviceRule[] } | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return undefined
    account.index ??= new GeofenceIndex(account.geofences.values())
    account.enabledRules ??= [...account.rules.values()]
      .filter(({ enabled }) => enabled)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    return { index: account.index, rules: account.enabledRules }
  }

  /** Whether any of them is about devices with labels. */
  get hasLabels(): boolean {
    return [...this.#accounts.values()].some(
      ({ geofences, rules }) =>
        [...rules.values()].some(({ labels }) => labels !== undefined) ||
        [...geofences.values()].some(({ geofence }) => geofence.labels !== undefined),
    )
  }

  #take<Definition extends { readonly accountId: string }>(
    kind: string,
    { id, version, definition }: ChangedDefinition<Definition>,
    change: (account: OfAccount, definition: Definition | undefined) => void,
  ): void {
    const key = `${kind} ${id}`
    const known = this.#known.get(key)
    if (known !== undefined && known.version >= version) return
    const accountId = definition?.accountId ?? known?.accountId
    if (accountId === undefined) return
    const account = this.#accounts.get(accountId) ?? { geofences: new Map(), rules: new Map() }
    this.#accounts.set(accountId, account)
    this.#known.set(key, { accountId, version })
    change(account, definition)
  }
}

async function* changesOf<Definition>(
  read: (query: ChangesQuery) => Promise<readonly ChangedDefinition<Definition>[]>,
  from: number,
): AsyncGenerator<ChangedDefinition<Definition>> {
  const pages = readPages<ChangedDefinition<Definition>>(READ_AT_ONCE, (page) =>
    read({ from, ...page }),
  )
  for await (const page of pages) yield* page
}
