import { useState } from 'preact/hooks'
import { Users } from 'lucide'
import { api } from '../../api/client.ts'
import { labelOf } from '../../core/live-device.ts'
import { MOST_REPLAYED, othersIn, othersText } from '../../core/replay.ts'
import type { Track } from '../../core/track.ts'
import type { Trip } from '../../core/trips.ts'
import { fleet } from '../../live/live.ts'
import { Field } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Menu } from '../../ui/menu.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'
import { loadEpisodes, loadTrack, type DeviceRange } from './track-data.ts'

const MOST = MOST_REPLAYED - 1
const FOUND = 6

/** Another device in the replay. */
export type ReplayedDevice = {
  readonly deviceId: string
  readonly name: string
  readonly points: Track['points']
  readonly trips: readonly Trip[]
}

const NONE: readonly ReplayedDevice[] = []

export function useOthers({ from, to }: Omit<DeviceRange, 'deviceId'>): readonly ReplayedDevice[] {
  const ids = othersIn(pageAddress.value.query)
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
  const ids = othersIn(pageAddress.value.query)
  const [q, setQ] = useState('')
  const { data } = useLoad(
    async (signal) =>
      q === '' ? undefined : api.get('/devices', { query: { q, limit: FOUND + MOST + 1 }, signal }),
    [q],
  )
  const found = data?.items.filter(({ deviceId }) => deviceId !== own && !ids.includes(deviceId))
  const set = (next: readonly string[]) => setQuery({ with: othersText(next) })
  const count = ids.length === 0 ? '' : ` ${ids.length}`
  return (
    <Menu
      label={`Other devices in the replay${count}`}
      class="small"
      panel="stack near"
      button={
        <>
          <Icon of={Users} small />
          {count}
        </>
      }
    >
      {() => (
        <>
          {ids.map((id) => (
            <button
              key={id}
              type="button"
              class="plain"
              onClick={() => set(ids.filter((one) => one !== id))}
            >
              Remove <Isolated>{nameOf(id)}</Isolated>
            </button>
          ))}
          {ids.length < MOST && (
            <Field
              name="with"
              label="Replay with"
              type="search"
              placeholder="Name or id"
              autoComplete="off"
              value={q}
              onInput={({ currentTarget }) => setQ(currentTarget.value.trim())}
            />
          )}
          {found?.slice(0, FOUND).map((device) => (
            <button
              key={device.deviceId}
              type="button"
              class="plain"
              onClick={() => {
                set([...ids, device.deviceId])
                setQ('')
              }}
            >
              Add <Isolated>{labelOf(device)}</Isolated>
            </button>
          ))}
        </>
      )}
    </Menu>
  )
}
