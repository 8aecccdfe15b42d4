import { api } from '../../api/client.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { useLoad } from '../../ui/use-load.ts'
import { StandingList } from './standing-list.tsx'

/** The same for a device of the fleet, which knows the ids alone. */
export function LiveStandings({ of: { deviceId, inside, raised } }: { of: LiveDevice }) {
  const { data } = useLoad(
    async (signal) =>
      inside.length + raised.length > 0
        ? api.get('/devices/{deviceId}', { path: { deviceId }, signal })
        : {},
    [deviceId, inside, raised],
  )
  return data === undefined ? null : <StandingList of={data} />
}
