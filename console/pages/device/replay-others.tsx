import { Users } from 'lucide'
import { labelOf } from '../../core/live-device.ts'
import { parseOtherDevices, formatOtherDevices } from '../../core/replay.ts'
import type { Track } from '../../core/track.ts'
import type { Trip } from '../../core/trips.ts'
import { fleet } from '../../live/live.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PickMany } from '../../ui/pick.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'
import { findDevices } from '../geofences/whom.tsx'
import { loadEpisodes, loadTrack, type DeviceRange } from './track-data.ts'

/** Another device in the replay. */
export type ReplayedDevice = {
  readonly deviceId: string
  readonly name: string
  readonly points: Track['points']
  readonly trips: readonly Trip[]
}

const NONE: readonly ReplayedDevice[] = []

export function useOthers({ from, to }: Omit<DeviceRange, 'deviceId'>): readonly ReplayedDevice[] {
  const ids = parseOtherDevices(pageAddress.value.query)
  const { data } = useLoad(
    (signal) =>
      Promise.all(
        ids.map(async (deviceId): Promise<ReplayedDevice> => {
          const range = { deviceId, from, to }
          const [{ points }, episodes] = await Promise.all([
            loadTrack(range, signal),
            loadEpisodes(range, signal),
          ])
          const trips = episodes.flatMap((one) => (one.kind === 'trip' ? [one] : []))
          return { deviceId, name: nameOf(deviceId), points, trips }
        }),
      ),
    [ids, from, to],
  )
  return data ?? NONE
}

function nameOf(deviceId: string): string {
  const device = fleet.devices.get(deviceId)
  return device === undefined ? deviceId : labelOf(device)
}

/** Adds devices to the replay, and removes them. */
export function ReplayOthers({ deviceId: own }: { deviceId: string }) {
  const ids = parseOtherDevices(pageAddress.value.query)
  const count = ids.length === 0 ? '' : ` ${ids.length}`
  return (
    <Menu
      label={`Other devices in the replay${count}`}
      class="small"
      panel="stack replay-others"
      button={
        <>
          <Icon of={Users} small />
          {count}
        </>
      }
    >
      {() => (
        <PickMany
          name="with"
          label="Replay with"
          placeholder="Name or id"
          find={async (typed, signal) =>
            (await findDevices(typed, signal)).filter(({ value }) => value !== own)
          }
          chosen={ids}
          wordsOf={nameOf}
          set={(next) => setQuery({ with: formatOtherDevices(next) })}
        />
      )}
    </Menu>
  )
}
