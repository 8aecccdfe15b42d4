import type { Account, Operator, Role } from '../back-office.ts'

export type AccountRow = {
  readonly account_id: string
  readonly account_name: string
  readonly suspended: number
  readonly account_created_at: number
}

export type OperatorRow = {
  readonly operator_id: string
  readonly account_id: string
  readonly email: string
  readonly role: Role
  readonly platform: number
  readonly password_hash: string
  readonly operator_created_at: number
}

/** The columns of an account, as they are selected alone and beside those of others. */
export const ACCOUNT = `accounts.id AS account_id, accounts.name AS account_name,
  accounts.suspended, accounts.created_at AS account_created_at`

export const OPERATOR = `operators.id AS operator_id, operators.account_id, operators.email,
  operators.role, operators.platform, operators.password_hash,
  operators.created_at AS operator_created_at`

export function accountOf(row: AccountRow): Account {
  return {
    id: row.account_id,
    name: row.account_name,
    suspended: row.suspended === 1,
    createdAt: row.account_created_at,
  }
}

export function operatorOf(row: OperatorRow): Operator {
  return {
    id: row.operator_id,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    platform: row.platform === 1,
    passwordHash: row.password_hash,
    createdAt: row.operator_created_at,
  }
}
