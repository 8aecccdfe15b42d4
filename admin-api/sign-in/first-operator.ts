import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Store } from '../../store/store.ts'
import { createKey } from '../keys/keys.ts'
import { generatePassword, hashPassword } from './password.ts'

/** Generated secrets; they are not stored, so the caller must show them now. */
export type FirstSecrets = {
  readonly email: string
  readonly password: string
  readonly apiKey: string
}

const ACCOUNT_ID = 'default'

/**
 * Creates the account `default` and its first operator, a platform admin, if there is none yet,
 * however many processes start together. `configured` gives the operator's credentials; without it,
 * and with `generate`, a password and a first API key are generated and returned.
 *
 * If the process dies after this but before showing the secrets, nobody knows the password. Nobody
 * knows the key either, so nothing can have been reported: deleting the data directory and starting
 * again loses nothing.
 */
export async function ensureFirstOperator({
  store,
  clock,
  configured,
  generate,
}: {
  store: Store
  clock: Clock
  configured?: { readonly email: string; readonly password: string }
  generate: boolean
}): Promise<FirstSecrets | undefined> {
  if (configured === undefined && !generate) return undefined
  // Hashing a password is slow, so it is skipped when there is nothing to create. An account
  // without an admin was left incomplete by a process that died.
  const operators = await store.pageOperators({ accountId: ACCOUNT_ID, limit: 1_000 })
  if (operators.some(({ role }) => role === 'admin')) return undefined
  const { email, password } = configured ?? {
    email: 'admin@localhost',
    password: generatePassword(),
  }
  const createdAt = clock.now()
  const made = await store.createFirstOperator({
    account: { id: ACCOUNT_ID, name: ACCOUNT_ID, suspended: false, createdAt },
    operator: {
      id: ulid(createdAt, randomBytes(10)),
      accountId: ACCOUNT_ID,
      email,
      role: 'admin',
      platform: true,
      passwordHash: await hashPassword(password),
      signedIn: false,
      createdAt,
    },
  })
  if (!made || configured !== undefined) return undefined
  const { secret } = await createKey({
    store,
    clock,
    accountId: ACCOUNT_ID,
    name: 'first key',
    scopes: ['positions:write', 'positions:read', 'devices:read'],
  })
  return { email, password, apiKey: secret }
}
