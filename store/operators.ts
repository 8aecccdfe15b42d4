import { readPages } from '../runtime/process/read-pages.ts'
import type { PlaceByAge } from './back-office.ts'

// The accounts, their operators and the operators' sessions.

export type Account = {
  readonly id: string
  readonly name: string
  readonly suspended: boolean
  /** When its last suspension was lifted. */
  readonly resumedAt?: number
  readonly createdAt: number
}

/** Each role may do all that those before it may. */
export const ROLES = ['viewer', 'dispatcher', 'admin'] as const
export type Role = (typeof ROLES)[number]

export type Operator = {
  readonly id: string
  readonly accountId: string
  /** As entered; unique in the whole service, ignoring case. */
  readonly email: string
  readonly role: Role
  readonly platform: boolean
  readonly passwordHash: string
  /** The password was made, not chosen. A new one ends this. */
  readonly mustChangePassword?: true
  /** Whether the operator has ever signed in; absent: an earlier version stored it, and did not note it. */
  readonly signedIn?: boolean
  readonly createdAt: number
}

/** A session ends after 30 minutes without a request, or after 12 hours. */
export const SESSION_IDLE_MS = 30 * 60_000
export const SESSION_LONGEST_MS = 12 * 60 * 60_000

export type Session = {
  /** SHA-256 of the cookie's value. */
  readonly tokenHash: Uint8Array
  readonly operatorId: string
  readonly createdAt: number
  readonly lastSeenAt: number
}

export interface Operators {
  /**
   * Creates the first account and its first operator, unless there is an operator already. One of
   * several concurrent processes succeeds.
   */
  createFirstOperator(first: { account: Account; operator: Operator }): Promise<boolean>

  /** False if the e-mail is taken anywhere in the service, ignoring case. */
  createOperator(operator: Operator): Promise<boolean>
  findOperator(query: { accountId: string; operatorId: string }): Promise<Operator | undefined>
  findOperatorByEmail(email: string): Promise<Operator | undefined>
  /** Oldest first. */
  pageOperators(query: {
    accountId: string
    limit: number
    after?: PlaceByAge
  }): Promise<Operator[]>
  /** The account and the platform each keep an admin, even under concurrent changes. */
  changeOperator(change: {
    readonly accountId: string
    readonly operatorId: string
    readonly role?: Role
    readonly platform?: boolean
    readonly passwordHash?: string
  }): Promise<Operator | OperatorKept | undefined>
  /** Also ends the operator's sessions. */
  deleteOperator(query: {
    accountId: string
    operatorId: string
  }): Promise<'deleted' | OperatorKept | undefined>

  /** With its first admin, if given: creates both or, if the e-mail is taken (false), neither. */
  createAccount(account: Account, admin?: Operator): Promise<boolean>
  findAccount(accountId: string): Promise<Account | undefined>
  /** Oldest first. */
  pageAccounts(query: { limit: number; after?: PlaceByAge }): Promise<Account[]>
  /** A suspended account's keys and operators are refused; its data is kept. */
  suspendAccount(query: {
    accountId: string
    suspended: boolean
    /** Now, in milliseconds since the epoch, where this lifts a suspension: its devices count as heard then. */
    resumedAt?: number
  }): Promise<Account | undefined>

  /**
   * Does nothing if the operator no longer exists. Ends the operator's oldest sessions when there are
   * too many.
   */
  createSession(session: Session): Promise<void>
  findSession(
    tokenHash: Uint8Array,
  ): Promise<{ session: Session; operator: Operator; account: Account } | undefined>
  touchSession(query: { tokenHash: Uint8Array; lastSeenAt: number }): Promise<void>
  deleteSession(tokenHash: Uint8Array): Promise<void>
  /** Ends all sessions of an operator, or all but one. */
  endSessions(query: { operatorId: string; except?: Uint8Array }): Promise<void>
}

/** The reason why an operator stays unchanged: the account, or the service, would be left without one. */
export type OperatorKept = 'last admin' | 'last platform operator'

const READ_AT_ONCE = 1_000

/** A password that somebody else made, and nobody has changed, says that they have not. */
export function hasSignedIn({ signedIn, mustChangePassword }: Operator): boolean {
  return signedIn ?? mustChangePassword !== true
}

/** The e-mail addresses of an account's operators, in small letters, and whether each has signed in. */
export async function operatorAddresses(
  store: Pick<Operators, 'pageOperators'>,
  accountId: string,
): Promise<ReadonlyMap<string, boolean>> {
  const addresses = new Map<string, boolean>()
  const pages = readPages<Operator>(READ_AT_ONCE, (page) =>
    store.pageOperators({ accountId, ...page }),
  )
  for await (const page of pages) {
    for (const one of page) addresses.set(one.email.toLowerCase(), hasSignedIn(one))
  }
  return addresses
}

/** The ids of all suspended accounts. */
export async function suspendedAccounts(
  store: Pick<Operators, 'pageAccounts'>,
): Promise<ReadonlySet<string>> {
  const accounts = await interruptedAccounts(store)
  return new Set([...accounts.values()].flatMap(({ id, suspended }) => (suspended ? id : [])))
}

/** The accounts that are suspended, or have been, by their ids. */
export async function interruptedAccounts(
  store: Pick<Operators, 'pageAccounts'>,
): Promise<ReadonlyMap<string, Account>> {
  const accounts = new Map<string, Account>()
  const pages = readPages<Account>(READ_AT_ONCE, (page) => store.pageAccounts(page))
  for await (const page of pages) {
    for (const account of page) {
      if (account.suspended || account.resumedAt !== undefined) accounts.set(account.id, account)
    }
  }
  return accounts
}
