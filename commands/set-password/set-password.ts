import { randomBytes } from 'node:crypto'
import { hashPassword } from '../../admin-api/sign-in/password.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/record-id.ts'
import type { Audit, Operators } from '../../store/back-office.ts'

/**
 * Sets the password of the operator with this e-mail, case ignored, and ends all its sessions.
 * Returns false if there is no such operator.
 */
export async function setPassword(
  { store, clock }: { store: Operators & Audit; clock: Clock },
  { email, password }: { readonly email: string; readonly password: string },
): Promise<boolean> {
  const operator = await store.findOperatorByEmail(email)
  if (operator === undefined) return false
  const { id: operatorId, accountId } = operator
  const passwordHash = await hashPassword(password)
  const changed = await store.changeOperator({ accountId, operatorId, passwordHash })
  if (changed === undefined) return false
  await store.endSessions({ operatorId })
  const at = clock.now()
  const id = ulid(at, randomBytes(10))
  await store.appendAudit({
    id,
    accountId,
    at,
    actor: { kind: 'operator', id: 'set-password', name: 'npm run set-password' },
    action: 'operator.changed',
    subject: { kind: 'operator', id: operatorId },
    details: { passwordChanged: true },
    address: 'command line',
    requestId: id,
  })
  return true
}
