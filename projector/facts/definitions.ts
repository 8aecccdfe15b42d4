import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import {
  GeofenceIndex,
  prepareGeofence,
  type PreparedGeofence,
} from '../../schemas/geo/geofence-index.ts'
import { isSelected, type DeviceSelection } from '../../schemas/definitions/selection.ts'
import type { ChangedDefinition, DefinitionStore } from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { interruptedAccounts, type Account, type Operators } from '../../store/operators.ts'
import type { FactStore, WatchSettings } from '../../store/facts.ts'
import type { DeviceDefinitions } from './decider.ts'
import { offlineAfter } from './silence.ts'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'

type DeviceName = Pick<WatchSettings, 'accountId' | 'deviceId'>

/** The definitions by which devices are judged, as of the last refresh. */
export type Definitions = {
  of(device: DeviceName): DeviceDefinitions
  /** Reads the definitions for the first time. */
  prepare(): Promise<void>
  /**
   * Reads the definitions again. Returns the devices whose deadlines may have changed; the first
   * time, all devices with settings.
   */
  refresh(): Promise<readonly DeviceName[]>
  /** The geofences that refreshes have found changed since the last call. */
  takeChangedGeofences(): readonly ChangedGeofence[]
}

/** Definitions of devices without settings, in accounts without geofences and rules. */
const WATCHED: DeviceDefinitions = {
  offlineAfterMs: offlineAfter(undefined),
  isWatched: true,
  geofences: { index: new GeofenceIndex([]), applies: () => true, selectedSince: 0 },
  rules: [],
}

const DEVICES_AT_ONCE = 1_000

export function followDefinitions(
  store: Pick<FactStore, 'watchSettings' | 'judgedDevices'> &
    Pick<Operators, 'pageAccounts'> &
    Pick<DefinitionStore, 'changedGeofences' | 'changedRules'>,
  clock: Clock,
): Definitions {
  const known = new KnownDefinitions(store, clock)
  const follower = new ChangesFollower<WatchSettings>((query) => store.watchSettings(query), {
    clock,
  })
  const settings = new Map<string, WatchSettings>()
  let interrupted: ReadonlyMap<string, Account> = new Map()
  let isPrepared = false
  let reading: Promise<void> | undefined
  /** Devices that `refresh` has yet to return. */
  let changed: DeviceName[] = []

  /** Concurrent callers share one read. */
  function read(): Promise<void> {
    reading ??= readAll().finally(() => (reading = undefined))
    return reading
  }

  async function readAll(): Promise<void> {
    const silences = await known.refresh()
    for await (const changes of follower.changes()) for (const change of changes) take(change)
    const resumed = await readAccounts()
    // The first time too: the rules may have been created while no projector was running.
    for (const accountId of new Set([...silences, ...resumed])) {
      changed = changed.concat(await devicesOf(accountId))
    }
    isPrepared = true
  }

  function take({ id, definition }: ChangedDefinition<WatchSettings>): void {
    const before = settings.get(id)
    if (definition === undefined) settings.delete(id)
    else settings.set(id, definition)
    const device = definition ?? before
    if (device !== undefined && !isSame(before, definition)) changed.push(device)
  }

  /** Returns the accounts that have been reinstated: all their deadlines start over. */
  async function readAccounts(): Promise<readonly string[]> {
    const before = interrupted
    interrupted = await interruptedAccounts(store)
    return [...interrupted.values()].flatMap(({ id, suspended, resumedAt }) =>
      !suspended && isPrepared && before.get(id)?.resumedAt !== resumedAt ? id : [],
    )
  }

  /** A rule about silence, or a reinstated account, affects devices that send nothing. */
  async function devicesOf(accountId: string): Promise<readonly DeviceName[]> {
    const devices: DeviceName[] = []
    const pages = readPages<DeviceName>(DEVICES_AT_ONCE, ({ limit, after }) =>
      store.judgedDevices({ accountId, limit, ...(after && { after: after.deviceId }) }),
    )
    for await (const page of pages) devices.push(...page)
    return devices
  }

  function selectFor(device: DeviceName, own: WatchSettings | undefined) {
    const { accountId, deviceId } = device
    const account = known.of(accountId)
    if (account === undefined) return {}
    const { labels = [], labelledSince = 0 } = own ?? {}
    const selectable = { deviceId, labels }
    return {
      geofences: {
        index: account.index,
        applies: (geofence: DeviceSelection) => isSelected(geofence, selectable),
        selectedSince: labelledSince,
      },
      rules: account.rules.filter((rule) => isSelected(rule, selectable)),
    }
  }

  return {
    of(device) {
      const own = settings.size === 0 ? undefined : settings.get(deviceKey(device))
      const account = interrupted.get(device.accountId)
      if (own === undefined && account === undefined && known.of(device.accountId) === undefined) {
        return WATCHED
      }
      return {
        ...WATCHED,
        offlineAfterMs: offlineAfter(own?.expectedIntervalSeconds),
        isWatched: own?.disabled !== true && account?.suspended !== true,
        watchedSince: Math.max(own?.enabledSince ?? 0, account?.resumedAt ?? 0),
        ...selectFor(device, own),
      }
    },

    takeChangedGeofences: () => known.takeChangedGeofences(),

    async prepare() {
      if (!isPrepared) await read()
    },

    async refresh() {
      await read()
      const returned = changed
      changed = []
      return returned
    },
  }
}

function isSame(one: WatchSettings | undefined, other: WatchSettings | undefined): boolean {
  return (
    one?.disabled === other?.disabled &&
    one?.expectedIntervalSeconds === other?.expectedIntervalSeconds &&
    one?.labels?.join('\n') === other?.labels?.join('\n')
  )
}

type Changes = Pick<DefinitionStore, 'changedGeofences' | 'changedRules'>

type OfAccount = {
  readonly geofences: Map<string, PreparedGeofence>
  readonly rules: Map<string, DeviceRule>
  /** The index of these geofences; undefined until built. */
  index?: GeofenceIndex | undefined
  inUse?: InUse
}

/** The definitions by which devices are judged, as of the last refresh. */
type InUse = {
  readonly index: GeofenceIndex
  /** The enabled rules. */
  readonly rules: readonly DeviceRule[]
}

/**
 * A geofence in which devices must be looked for: it is new, or its shape, selection or time has
 * changed.
 */
export type ChangedGeofence = PreparedGeofence & {
  /** It existed before this process started, and may have been searched already. */
  readonly wasThere: boolean
}

/**
 * The geofences and rules of all accounts, as of the last refresh. An account's definitions change
 * together, once their index is built. One refresh runs at a time.
 */
export class KnownDefinitions {
  readonly #geofences: ChangesFollower<Geofence>
  readonly #rules: ChangesFollower<DeviceRule>
  readonly #accounts = new Map<string, OfAccount>()
  /** The account of each geofence and rule. */
  readonly #holders = new Map<string, string>()
  /** Accounts whose definitions have been read but are not in use yet. */
  readonly #stale = new Set<OfAccount>()
  #found: ChangedGeofence[] = []
  #changed: ChangedGeofence[] = []
  #isRead = false

  constructor(store: Changes, clock: Clock) {
    this.#geofences = new ChangesFollower((query) => store.changedGeofences(query), { clock })
    this.#rules = new ChangesFollower((query) => store.changedRules(query), { clock })
  }

  /** Reads what has changed. Returns the accounts whose rules about silence have changed. */
  async refresh(): Promise<ReadonlySet<string>> {
    const silences = new Set<string>()
    const turnEnds = turnTaker()
    const named = createNamePool()
    for await (const changes of this.#geofences.changes()) {
      for (const { id, definition } of changes) {
        const account = this.#accountOf(id, definition)
        if (account === undefined) continue
        this.#stale.add(account)
        account.index = undefined
        const before = account.geofences.get(id)?.geofence
        if (definition === undefined) account.geofences.delete(id)
        else {
          const known = prepareGeofence({ ...definition, ...named(definition) })
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

  /** Returns the geofences changed since the last call. */
  takeChangedGeofences(): readonly ChangedGeofence[] {
    const changed = this.#changed
    this.#changed = []
    return changed
  }

  /** Returns the account's definitions; undefined if it has neither geofences nor rules. */
  of(accountId: string): InUse | undefined {
    return this.#accounts.get(accountId)?.inUse
  }

  /** Undefined if the definition was deleted before this process learned of it. */
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

/** Many definitions may name the same devices: each id is stored once. */
function createNamePool() {
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
