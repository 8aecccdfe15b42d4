import type { Fault } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import type { SubmittedPosition } from '../accept/accept.ts'

/** The value of the `Idempotency-Key` header, or its fault. */
export function idempotencyKey({
  req,
}: HttpContext): Pick<SubmittedPosition, 'idempotencyKey' | 'faults'> {
  const header = req.headers['idempotency-key']
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
