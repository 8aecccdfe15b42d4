import type { PositionRecord } from '../../schemas/read-models.ts'
import type { PositionEntry } from '../read-models.ts'
import type { PositionDocument } from './collections.ts'

export function positionDocument({ origin, event }: PositionEntry): PositionDocument {
  const { recordId, ...fields } = event
  return {
    ...fields,
    _id: recordKey({ accountId: fields.accountId, recordId }),
    timestamp: new Date(fields.timestamp),
    receivedAt: new Date(fields.receivedAt),
    origin,
  }
}

export function positionRecord({ _id, ...fields }: PositionDocument): PositionRecord {
  return {
    ...fields,
    recordId: _id.slice(fields.accountId.length + 1),
    timestamp: fields.timestamp.getTime(),
    receivedAt: fields.receivedAt.getTime(),
  }
}

/** Record ids are unique within an account; account ids contain no slash. */
export function recordKey({
  accountId,
  recordId,
}: {
  accountId: string
  recordId: string
}): string {
  return `${accountId}/${recordId}`
}
