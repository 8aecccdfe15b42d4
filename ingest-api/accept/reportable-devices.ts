import { isListed } from '../../schemas/device-list.ts'
import type { KeyGrant } from '../../store/back-office.ts'
import type { Refused } from './outcome.ts'

/** The refusal of a key that may not report for a device; undefined if it may. */
export function deviceRefusal(
  { key, disabledDevices }: KeyGrant,
  deviceId: string,
): Refused | undefined {
  if (!isListed(key.deviceIds, deviceId)) {
    return forbidden('this API key may not report for this deviceId', { retriable: true })
  }
  if (disabledDevices.has(deviceId))
    return forbidden('this device is disabled', { retriable: false })
  return undefined
}

/** A missing device may still be added to the key's list; a disabled one was disabled on purpose. */
function forbidden(message: string, { retriable }: { retriable: boolean }): Refused {
  return { error: 'FORBIDDEN', message, retriable }
}
