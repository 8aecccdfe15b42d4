import { api, serverNow } from '../../api/client.ts'
import { ApiFailure } from '../../core/failure.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { useLoad } from '../../ui/use-load.ts'
import { changeDraft, draft } from './draft.ts'

const TRIES = 20
const RETRY_MS = 500

/**
 * Gives a device that has arrived the name of the draft, unless it has a name; once in its life, so that a name which
 * somebody removes later stays removed.
 */
export function useGivenName(
  name: string,
  arrived: { readonly deviceId: string; readonly firstSeenAt: string } | undefined,
): ApiFailure | undefined {
  const { failure } = useLoad(
    async (signal) => {
      if (arrived === undefined || name === '' || !may('devices.edit')) return
      const path = { deviceId: arrived.deviceId }
      const device = await storedDevice(path, signal)
      if (device.firstSeenAt === draft.value.namedSince) return
      if (device.name === null) {
        const { name: given } = await api.patch('/devices/{deviceId}', { path, body: { name } })
        fleet.status({ ...device, name: given }, serverNow())
        markChanged()
      }
      changeDraft({ namedSince: device.firstSeenAt })
    },
    [name, arrived?.deviceId, arrived?.firstSeenAt],
  )
  return failure
}

/** The stream has a report a moment before the store does. */
async function storedDevice(
  path: { readonly deviceId: string },
  signal: AbortSignal,
): Promise<ApiDevice> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await api.get('/devices/{deviceId}', { path, signal })
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 404 || left === 0) throw thrown
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
