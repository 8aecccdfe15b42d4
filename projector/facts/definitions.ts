import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { isSelected, type DeviceSelection } from '../../schemas/definitions/selection.ts'
import type { ChangedDefinition, DefinitionStore } from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { KnownDefinitions, type ChangedGeofence } from './known-definitions.ts'
import { interruptedAccounts, type Account, type Operators } from '../../store/operators.ts'
import type { FactStore, WatchSettings } from '../../store/facts.ts'
import type { DeviceDefinitions } from './judge.ts'
import { offlineAfter } from './liveness.ts'

type DeviceName = Pick<WatchSettings, 'accountId' | 'deviceId'>

/** The definitions by which devices are judged, as of the last refresh. */
export type Definitions = {
  of(device: DeviceName): DeviceDefinitions
  /** Reads them for the first time. */
  prepare(): Promise<void>
  /** Reads them again. Returns the devices whose deadlines may have changed; at first, all with settings. */
  refresh(): Promise<readonly DeviceName[]>
  /** The geofences that refreshes have found changed since the last call. */
  takeChangedGeofences(): readonly ChangedGeofence[]
}

/** For devices without settings, in accounts without geofences and rules. */
const WATCHED: DeviceDefinitions = { offlineAfterMs: offlineAfter(undefined), isWatched: true }

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

  /** Its callers share a reading. */
  function read(): Promise<void> {
    reading ??= readAll().finally(() => (reading = undefined))
    return reading
  }

  async function readAll(): Promise<void> {
    const silences = await known.refresh()
    for await (const changes of follower.changes()) for (const change of changes) take(change)
    const resumed = await readAccounts()
    // At first too: the rules may have been made while no projector was running.
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

  /** Returns the accounts that have been resumed: all their deadlines begin again. */
  async function readAccounts(): Promise<readonly string[]> {
    const before = interrupted
    interrupted = await interruptedAccounts(store)
    return [...interrupted.values()].flatMap(({ id, suspended, resumedAt }) =>
      !suspended && isPrepared && before.get(id)?.resumedAt !== resumedAt ? id : [],
    )
  }

  /** A rule about silence, or a resumed account, concerns devices that send nothing. */
  async function devicesOf(accountId: string): Promise<readonly DeviceName[]> {
    const devices: DeviceName[] = []
    const pages = readPages<DeviceName>(DEVICES_AT_ONCE, ({ limit, after }) =>
      store.judgedDevices({ accountId, limit, ...(after && { after: after.deviceId }) }),
    )
    for await (const page of pages) devices.push(...page)
    return devices
  }

  function definedFor(device: DeviceName, own: WatchSettings | undefined) {
    const { accountId, deviceId } = device
    const account = known.of(accountId)
    if (account === undefined) return {}
    const { labels = [], labelledSince = 0 } = own ?? {}
    const selectable = { deviceId, labels }
    return {
      defined: {
        geofences: {
          index: account.index,
          applies: (geofence: DeviceSelection) => isSelected(geofence, selectable),
          selectedSince: labelledSince,
        },
        rules: account.rules.filter((rule) => isSelected(rule, selectable)),
      },
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
        offlineAfterMs: offlineAfter(own?.expectedIntervalSeconds),
        isWatched: own?.disabled !== true && account?.suspended !== true,
        watchedSince: Math.max(own?.enabledSince ?? 0, account?.resumedAt ?? 0),
        ...definedFor(device, own),
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
