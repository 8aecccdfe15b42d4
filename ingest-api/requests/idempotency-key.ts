import type { Fault } from '../../runtime/errors.ts'
import type { SubmittedPosition } from '../accept/accept.ts'
import type { SenderRequest } from './sender-request.ts'

/** The value of the `Idempotency-Key` header, or its fault. */
export function idempotencyKey({
  http,
}: SenderRequest): Pick<SubmittedPosition, 'idempotencyKey' | 'faults'> {
  const header = http.headers['idempotency-key']
  if (header === undefined) return {}
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) {
    return { idempotencyKey: header }
  }
  return { faults: [FAULT] }
}

const FAULT: Fault = {
  field: 'Idempotency-Key',
  message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
}
