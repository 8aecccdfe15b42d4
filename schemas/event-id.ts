import type { DeviceErased } from './device-erased.ts'
import type { PositionReported } from './position-reported.ts'

/** The event's id, `ce_id` in the log; the same for its copies. */
export function eventIdOf(event: PositionReported | DeviceErased): string {
  return 'recordId' in event ? event.recordId : event.eventId
}
