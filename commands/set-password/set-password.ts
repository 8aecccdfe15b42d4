import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { newPasswordRule } from '../../admin-api/sign-in/credential-rules.ts'
import { generatePassword, hashPassword, verifyPassword } from '../../admin-api/sign-in/password.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Audit } from '../../store/back-office.ts'
import type { Operators } from '../../store/operators.ts'

const RULE = newPasswordRule('the password on standard input').required()

type NewPassword = { readonly password: string; readonly isGenerated: boolean }

/**
 * Reads the password from standard input, without the final line break; generates one on a terminal.
 * @throws {Error} if the password breaks the rules.
 */
export async function newPassword(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
): Promise<NewPassword> {
  if (input.isTTY === true) return { password: generatePassword(), isGenerated: true }
  const password = decodeInput(await buffer(input)).replace(/\r?\n$/, '')
  const checked = RULE.check(password, { field: 'password', now: 0 })
  if ('faults' in checked) throw new Error(checked.faults[0]?.message)
  return { password: checked.made, isGenerated: false }
}

/**
 * Sets the password of the operator with this e-mail, ignoring case, and ends all its sessions.
 * @throws {Error} if there is no such operator, or the password is the current one.
 */
export async function setPassword(
  { store, clock }: { store: Operators & Audit; clock: Clock },
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const operator = await store.findOperatorByEmail(email)
  if (operator === undefined) throw unknownOperatorError(email)
  if (await verifyPassword(password, operator.passwordHash)) {
    throw new Error(`${email} already has this password; nothing has changed`)
  }
  const { id: operatorId, accountId } = operator
  const passwordHash = await hashPassword(password)
  const changed = await store.changeOperator({ accountId, operatorId, passwordHash })
  if (changed === undefined) throw unknownOperatorError(email)
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
}

function unknownOperatorError(email: string): Error {
  return new Error(`there is no operator with the e-mail ${email}; nothing has changed`)
}

/** Decoded strictly: nobody could type a password with replacement characters. */
function decodeInput(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error('the password on standard input must be UTF-8', { cause: error })
  }
}
