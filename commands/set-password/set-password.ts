import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { commandLine, UsageError } from '../../runtime/process/command-line.ts'
import { newPasswordRule } from '../../admin-api/sign-in/credential-rules.ts'
import { generatePassword, hashPassword, verifyPassword } from '../../admin-api/sign-in/password.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Audit } from '../../store/back-office.ts'
import type { Operators } from '../../store/operators.ts'

export type Options = { readonly email: string }

const line = commandLine({
  begin: `Usage: npm run set-password -- --email admin@example.com

Gives an operator of the console a new password, if nobody can sign in there to do so. All sessions of
this operator end. The audit of its account says that this program did it.

The new password is read from standard input; it has 12 to 1024 characters, and is not the current one:

  npm run --silent set-password -- --email admin@example.com < file

If standard input is a terminal, a password is generated and written to standard output, once.`,
  options: {
    email: { type: 'string', value: 'E-MAIL', about: 'the e-mail that the operator signs in with' },
  },
  end: `It works where \`npm start\` does (DATA_DIR), while that is stopped, and with KAFKA_BROKERS and MONGODB_URL
on the distributed service while it runs.

Exit code: 0 done, 1 it could not be done, 2 the command line is wrong.`,
})
export const HELP = line.help

/** @throws {UsageError} that lists the options. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, ({ email }) => {
    if (email) return { email }
    throw new UsageError('enter the operator’s e-mail: --email admin@example.com; see --help')
  })
}

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
  const password = decoded(await buffer(input)).replace(/\r?\n$/, '')
  const checked = RULE.check(password, { field: 'password', now: 0 })
  if ('faults' in checked) throw new Error(checked.faults[0]?.message)
  return { password: checked.made, isGenerated: false }
}

/**
 * Sets the password of the operator with this e-mail, case ignored, and ends all its sessions.
 * @throws {Error} if there is no such operator, or the password is the current one.
 */
export async function setPassword(
  { store, clock }: { store: Operators & Audit; clock: Clock },
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const operator = await store.findOperatorByEmail(email)
  if (operator === undefined) throw unknown(email)
  if (await verifyPassword(password, operator.passwordHash)) {
    throw new Error(`this is the password of ${email} already; nothing has changed`)
  }
  const { id: operatorId, accountId } = operator
  const passwordHash = await hashPassword(password)
  const changed = await store.changeOperator({ accountId, operatorId, passwordHash })
  if (changed === undefined) throw unknown(email)
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

function unknown(email: string): Error {
  return new Error(`no operator signs in with the e-mail ${email}; nothing has changed`)
}

/** Not decoded leniently: with replacement characters nobody could type the password. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error('the password on standard input must be UTF-8', { cause: error })
  }
}
