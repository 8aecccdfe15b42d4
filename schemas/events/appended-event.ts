import type { DeviceErased } from './device-erased.ts'
import { DEVICE_SEEN, encodeDeviceSeen, type DeviceSeen } from './device-seen.ts'
import {
  encodePositionReported,
  POSITION_REPORTED,
  type PositionReported,
} from './position-reported.ts'

/** The event that a reporting device adds to the log: a position, or a heartbeat without one. */
export type AppendedEvent = PositionReported | DeviceSeen

export function isDeviceSeen(event: AppendedEvent): event is DeviceSeen {
  return !('recordId' in event)
}

/** The event's id, `ce_id` in the log; the same for its copies. */
export function eventIdOf(event: AppendedEvent | DeviceErased): string {
  return 'recordId' in event ? event.recordId : event.eventId
}

/** The event's type, `ce_type` in the log. */
export function eventTypeOf(event: AppendedEvent): string {
  return isDeviceSeen(event) ? DEVICE_SEEN : POSITION_REPORTED
}

/** The event's value as JSON text. */
export function encodeEvent(event: AppendedEvent): string {
  return isDeviceSeen(event) ? encodeDeviceSeen(event) : encodePositionReported(event)
}
