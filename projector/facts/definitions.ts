import { deviceKey } from '../../schemas/position-reported.ts'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/read-pages.ts'
import { isSelected, type DeviceSelection } from '../../schemas/selection.ts'
import type { DefinitionStore } from '../../store/definitions.ts'
import { KnownDefinitions } from './known-definitions.ts'
import { suspendedAccounts, type Operators } from '../../store/operators.ts'
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
}

/** For devices without settings, in accounts without geofences and rules. */
const WATCHED: DeviceDefinitions = { offlineAfterMs: offlineAfter(undefined), isWatched: true }
const UNWATCHED: DeviceDefinitions = { ...WATCHED, isWatched: false }

const DEVICES_AT_ONCE = 1_000

export function followDefinitions(
  store: Pick<FactStore, 'watchSettings' | 'judgedDevices'> &
    Pick<Operators, 'pageAccounts'> &
    Pick<DefinitionStore, 'changedGeofences' | 'changedRules'>,
  clock: Clock,
): Definitions {
  const known = new KnownDefinitions(store, clock)
  let settings: ReadonlyMap<string, WatchSettings> = new Map()
  let suspended: ReadonlySet<string> = new Set()
  let isPrepared = false
  /** Devices that `refresh` has yet to return. */
  let changed: readonly DeviceName[] = []

  async function read(): Promise<void> {
    const silences = await known.refresh()
    const devices = await store.watchSettings({ labels: known.hasLabels })
    const next = new Map(devices.map((device) => [deviceKey(device), device]))
    suspended = await suspendedAccounts(store)
    const differing = [...next, ...settings].filter(
      ([key]) => !isSame(next.get(key), settings.get(key)),
    )
    changed = [...changed, ...new Map(differing).values()]
    // At first too: the rules may have been made while no projector was running.
    for (const accountId of silences) changed = [...changed, ...(await devicesOf(accountId))]
    settings = next
    isPrepared = true
  }

  /** A rule about silence concerns devices that send nothing. */
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
    const { labels = [], changedAt = 0 } = own ?? {}
    const selectable = { deviceId, labels }
    return {
      defined: {
        geofences: {
          index: account.index,
          applies: (geofence: DeviceSelection) => isSelected(geofence, selectable),
          selectedSince: changedAt,
        },
        rules: account.rules.filter((rule) => isSelected(rule, selectable)),
      },
    }
  }

  return {
    of(device) {
      const own = settings.size === 0 ? undefined : settings.get(deviceKey(device))
      if (own === undefined && known.of(device.accountId) === undefined) {
        return suspended.has(device.accountId) ? UNWATCHED : WATCHED
      }
      return {
        offlineAfterMs: offlineAfter(own?.expectedIntervalSeconds),
        isWatched: own?.disabled !== true && !suspended.has(device.accountId),
        ...definedFor(device, own),
      }
    },

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
