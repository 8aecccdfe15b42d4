import type { DeviceFact } from './facts.ts'
import { isoTime } from '../text/iso-8601.ts'
import { recordView } from '../devices/read-models.ts'

/** The fields of details that are times. */
export const DETAIL_TIMES = ['enteredAt', 'raisedAt'] as const

/** A fact in the form used everywhere, with its times as texts. */
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

function detailsView<Details extends object>(details: Details) {
  const times = Object.entries(details).flatMap(([name, value]: [string, unknown]) =>
    DETAIL_TIMES.some((time) => time === name) && typeof value === 'number'
      ? [[name, isoTime(value)] as const]
      : [],
  )
  return { ...details, ...Object.fromEntries(times) }
}
