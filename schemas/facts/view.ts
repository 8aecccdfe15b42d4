import type { DeviceFact } from '../facts.ts'
import { isoTime } from '../iso-8601.ts'
import { recordView } from '../record-view.ts'

/** A fact as the API shows it everywhere. */
export function factView({ accountId: _, at, decidedAt, position, ...fact }: DeviceFact) {
  const { id, type, sequence, deviceId, inside, ...details } = fact
  return {
    id,
    type,
    sequence,
    deviceId,
    at: isoTime(at),
    decidedAt: isoTime(decidedAt),
    ...detailsView(details),
    ...(position !== undefined && { position: recordView({ ...position, deviceId }) }),
    inside,
  }
}

/** Times as the API writes them. */
function detailsView<Details extends object>(details: Details) {
  const times = Object.entries(details).flatMap(([name, value]: [string, unknown]) =>
    (name === 'enteredAt' || name === 'raisedAt') && typeof value === 'number'
      ? [[name, isoTime(value)] as const]
      : [],
  )
  return { ...details, ...Object.fromEntries(times) }
}
