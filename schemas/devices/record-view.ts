import { isoTime } from '../text/iso-8601.ts'
import type { LastPosition } from './read-models.ts'
import { withOptionalFields } from '../report/report-fields.ts'

/** A record as the API shows it everywhere: flat, without absent measurements. */
export function recordView({ deviceId, ...position }: LastPosition & { deviceId: string }) {
  const { recordId, ...rest } = positionView(position)
  return { recordId, deviceId, ...rest }
}

/** A record for answers about a single device. */
export function positionView(position: LastPosition) {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const times = { timestamp: isoTime(timestamp), receivedAt: isoTime(receivedAt) }
  return withOptionalFields({ recordId, latitude, longitude, ...times }, position)
}
