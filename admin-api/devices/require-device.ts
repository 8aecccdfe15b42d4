import { ApiError } from '../../runtime/errors.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { Device } from '../../schemas/devices/read-models.ts'
import type { Store } from '../../store/store.ts'
import { deviceList, type Caller } from '../http/caller.ts'

/** @throws {ApiError} 404 unless the account has this device and the caller may see it. */
export async function requireDevice(
  store: Pick<Store, 'findDevice'>,
  caller: Caller,
  deviceId: string,
): Promise<Device> {
  const device = isListed(deviceList(caller), deviceId)
    ? await store.findDevice({ accountId: caller.accountId, deviceId })
    : undefined
  if (device === undefined) throw deviceNotFound()
  return device
}

/**
 * Like `requireDevice`, but also finds a disabled device whose data has expired, so that it can be
 * enabled or erased: otherwise nobody could undo the disabling.
 */
export async function requireKnownDevice(
  store: Pick<Store, 'findDevice' | 'isDisabled'>,
  caller: Caller,
  deviceId: string,
): Promise<Device | 'gone by age'> {
  const { accountId } = caller
  const device = isListed(deviceList(caller), deviceId)
    ? ((await store.findDevice({ accountId, deviceId })) ??
      ((await store.isDisabled({ accountId, deviceId })) && 'gone by age'))
    : false
  if (device === false) throw deviceNotFound()
  return device
}

export function deviceNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'there is no device with this deviceId')
}
