import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { ApiFailure } from '../../core/failure.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, lister, onStreamEvent, startLive } from '../../live/live.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { useLoad } from '../../ui/use-load.ts'
import type { Seen } from './outcome.ts'

type Rejection = Seen['rejections'][number] & { readonly keyId?: string | undefined }

/** Follows the stream and the lists for reports of a device and refusals of a key. */
export function useArrival(
  deviceId: string,
  keyId: string | undefined,
): { readonly seen: Seen; readonly failure: ApiFailure | undefined } {
  const [told, setTold] = useState<Rejection>()
  watchWords()
  const { data, failure, reload } = useLoad(
    async (signal) => {
      if (keyId === undefined && deviceId === '') return []
      const query = { limit: 1, ...(keyId === undefined ? { deviceId } : { keyId }) }
      return (await api.get('/rejections', { query, signal })).items
    },
    [deviceId, keyId],
  )
  useEffect(() => {
    setTold(undefined)
    startLive()
    return onStreamEvent((name, value) => {
      if (name === 'opened') return reload()
      const rejection = value as Rejection
      const isWanted =
        keyId === undefined ? rejection.deviceId === deviceId : rejection.keyId === keyId
      if (name === 'rejection' && isWanted) setTold(rejection)
    })
  }, [deviceId, keyId])
  const rejections = [...(told === undefined ? [] : [told]), ...(data ?? [])]
  return {
    seen: { devices: seenDevices(deviceId), rejections },
    failure: failure ?? lister.failure.value,
  }
}

/** The device itself, and the newest of the other devices. */
function seenDevices(deviceId: string): Seen['devices'] {
  let newest: LiveDevice | undefined
  for (const device of fleet.devices.values()) {
    if (device.deviceId === deviceId) continue
    if (newest === undefined || device.firstSeenAt > newest.firstSeenAt) newest = device
  }
  return [fleet.devices.get(deviceId), newest]
    .filter((device) => device !== undefined)
    .map((device) => ({ ...device, lastSeenAt: new Date(device.lastSeenMs).toISOString() }))
}
