import {
  accountIdOf,
  identifier,
  milliseconds,
  ulidField,
  UndecodableEventError,
  utf8,
} from './event-fields.ts'

/**
 * The event in the log: an operator erased a device. It has the device's key, so it is ordered with
 * the device's positions: earlier positions are erased, later ones start a new history.
 */
export type DeviceErased = {
  /** ULID; the same for every repeat of the event. */
  readonly eventId: string
  readonly accountId: string
  readonly deviceId: string
  /** When the operator requested it, in milliseconds since the epoch. */
  readonly erasedAt: number
}

export const DEVICE_ERASED = 'DeviceErased.v1'

/**
 * Whether an event was received before an erasure that it may follow in the log, because it comes from
 * an ingest API with a spool. Such an event has no effect, wherever it is in the log.
 */
export function isWithdrawn(
  {
    event: { receivedAt },
    spooled,
  }: { readonly event: { readonly receivedAt: number }; readonly spooled?: true },
  erasedAt: number,
): boolean {
  return spooled === true && receivedAt <= erasedAt
}

/**
 * Decodes a log entry. It has no value: the key names account and device.
 * @throws {UndecodableEventError} naming the first fault.
 */
export function decodeDeviceErased({
  key,
  value,
  ...rest
}: {
  key: Uint8Array | null
  value: Uint8Array | null
  eventId: string | undefined
  erasedAt: number | undefined
}): DeviceErased {
  if (value !== null) throw new UndecodableEventError('the erasure of a device has a value')
  const name = utf8(key, 'key')
  const slash = name.indexOf('/')
  if (slash === -1) throw new UndecodableEventError('the key has no slash')
  return checkDeviceErased({
    ...rest,
    accountId: name.slice(0, slash),
    deviceId: name.slice(slash + 1),
  })
}

/** @throws {UndecodableEventError} naming the first invalid field. */
export function checkDeviceErased(fields: Record<string, unknown>): DeviceErased {
  return {
    eventId: ulidField(fields['eventId'], 'eventId'),
    accountId: accountIdOf(fields['accountId']),
    deviceId: identifier(fields['deviceId'], 'deviceId'),
    erasedAt: milliseconds(fields['erasedAt'], 'erasedAt'),
  }
}
