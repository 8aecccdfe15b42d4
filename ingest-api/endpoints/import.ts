import { NO_TIMESTAMP } from '../../schemas/position-report.ts'
import type { Accept } from '../accept/accept.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'
import { batchEndpoint } from './batch.ts'
import type { Endpoint } from './answer-senders.ts'
import type { Receive } from './receive.ts'

/** `POST /api/v1/gps/import`: history that was recorded earlier and elsewhere, in batches. */
export function importEndpoint({
  receive,
  accept,
}: {
  receive: Receive
  accept: Accept
}): Endpoint {
  return batchEndpoint('/api/v1/gps/import', {
    receive,
    accept,
    reportsIn: (reports) => reports.map(imported),
  })
}

function imported(json: unknown): SubmittedPosition {
  // Any element but an object is a separate fault.
  const fields = typeof json === 'object' && json !== null ? json : { timestamp: json }
  const timestamp = 'timestamp' in fields ? fields.timestamp : undefined
  const isTimed = timestamp !== undefined && timestamp !== null
  return { json, isImported: true, ...(!isTimed && { faults: [NO_TIMESTAMP] }) }
}
