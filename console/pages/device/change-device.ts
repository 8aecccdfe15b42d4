import { api, serverNow } from '../../api/client.ts'
import { ApiFailure } from '../../core/failure.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'

type Change = {
  readonly name?: string | null
  readonly disabled?: boolean
  readonly expectedIntervalSeconds?: number | null
}

/** Changes settings, in the fleet too: the stream sends them only with the next report. */
export async function changeDevice(device: ApiDevice, body: Change): Promise<void> {
  const { deviceId } = device
  const changed = await api.patch('/devices/{deviceId}', { path: { deviceId }, body })
  if (changed.lastPosition === undefined) {
    throw new ApiFailure('its last records are older than the retention', {
      status: 404,
      error: 'NOT_FOUND',
    })
  }
  fleet.status({ ...device, ...changed }, serverNow())
  markChanged()
}
