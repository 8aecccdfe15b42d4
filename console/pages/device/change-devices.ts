import { api, serverNow } from '../../api/client.ts'
import { toFailure, ApiFailure } from '../../core/failure.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'
import { formatCount } from '../../ui/shown.ts'
import { toast } from '../../ui/announcements.tsx'

/** A session may have eight calls in progress; the rest are for the page itself. */
const CALLS_AT_ONCE = 4

/**
 * Disables or enables devices, and offers to undo it for those that changed.
 *
 * @param onDone called after the change, and again after it was undone.
 * @throws {ApiFailure} if not all were changed.
 */
export async function switchDevices(
  deviceIds: readonly string[],
  disabled: boolean,
  onDone: () => void = () => undefined,
): Promise<void> {
  const { changed, failure } = await switchAll(deviceIds, disabled)
  onDone()
  if (changed.length > 0) {
    const count = changed.length === 1 ? 'Device' : formatCount(changed.length, 'device')
    const undo = async () => {
      const { failure: fault } = await switchAll(changed, !disabled)
      onDone()
      if (fault !== undefined) throw toFailure(fault)
    }
    toast(disabled ? `${count} disabled: no reports are accepted` : `${count} enabled`, { undo })
  }
  if (failure !== undefined) throw toFailure(failure)
}

/**
 * Stops at the first failure. With several devices, skips devices that no longer exist or that
 * somebody else has switched since.
 */
async function switchAll(deviceIds: readonly string[], disabled: boolean) {
  const waiting = [...deviceIds]
  const changed: string[] = []
  let failure: unknown
  const work = async () => {
    for (let deviceId = waiting.shift(); deviceId !== undefined; deviceId = waiting.shift()) {
      try {
        if (!(await isSwitched(deviceId, disabled))) {
          await api.patch('/devices/{deviceId}', { path: { deviceId }, body: { disabled } })
          changed.push(deviceId)
        }
      } catch (thrown) {
        if (toFailure(thrown).status === 404 && deviceIds.length > 1) continue
        failure ??= thrown
        waiting.length = 0
        return
      }
      fleet.changed(deviceId, { disabled }, serverNow())
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work))
  markChanged()
  return { changed, failure }
}

async function isSwitched(deviceId: string, disabled: boolean): Promise<boolean> {
  try {
    const device = await api.get('/devices/{deviceId}', { path: { deviceId } })
    return device.disabled === disabled
  } catch (thrown) {
    // A device whose data has expired can still be switched.
    if (toFailure(thrown).status === 404) return false
    throw thrown
  }
}

type Change = {
  readonly name?: string | null
  readonly disabled?: boolean
  readonly expectedIntervalSeconds?: number | null
}

/** Changes settings, also in the fleet: the stream sends them only with the next report. */
export async function changeDevice(device: ApiDevice, body: Change): Promise<void> {
  const { deviceId } = device
  const changed = await api.patch('/devices/{deviceId}', { path: { deviceId }, body })
  if (changed.lastPosition === undefined) {
    throw new ApiFailure('its last records are older than the retention', {
      status: 404,
      error: 'NOT_FOUND',
    })
  }
  const { name, disabled, expectedIntervalSeconds } = changed
  fleet.changed(deviceId, { name, disabled, expectedIntervalSeconds }, serverNow())
  markChanged()
}
