import type { Account, Operator, Operators, Role } from '../store.ts'
import type { Database } from './database.ts'

type AccountRow = {
  readonly account_id: string
  readonly account_name: string
  readonly suspended: number
  readonly account_created_at: number
}

type OperatorRow = {
  readonly operator_id: string
  readonly account_id: string
  readonly email: string
  readonly role: Role
  readonly platform: number
  readonly password_hash: string
  readonly operator_created_at: number
}

type SessionRow = {
  readonly token_hash: Uint8Array
  readonly session_created_at: number
  readonly last_seen_at: number
}

const ACCOUNT = `accounts.id AS account_id, accounts.name AS account_name, accounts.suspended,
  accounts.created_at AS account_created_at`

const OPERATOR = `operators.id AS operator_id, operators.account_id, operators.email,
  operators.role, operators.platform, operators.password_hash,
  operators.created_at AS operator_created_at`

export function sqliteOperators(database: Database): Operators {
  const anyOperator = database.prepare<{ id: string }>('SELECT id FROM operators LIMIT 1')
  const insertAccount = database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)')
  const insertOperator = database.prepare('INSERT INTO operators VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const findAccount = database.prepare<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = ?`)
  const findByEmail = database.prepare<OperatorRow>(
    `SELECT ${OPERATOR} FROM operators WHERE email_lower_case = ?`,
  )
  const suspend = database.prepare('UPDATE accounts SET suspended = ? WHERE id = ?')
  const insertSession = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?)')
  const findSession = database.prepare<SessionRow & OperatorRow & AccountRow>(
    `SELECT sessions.token_hash, sessions.created_at AS session_created_at, sessions.last_seen_at,
       ${OPERATOR}, ${ACCOUNT}
     FROM sessions JOIN operators ON operators.id = sessions.operator_id
     JOIN accounts ON accounts.id = operators.account_id
     WHERE sessions.token_hash = ?`,
  )
  const touchSession = database.prepare(
    'UPDATE sessions SET last_seen_at = max(last_seen_at, ?) WHERE token_hash = ?',
  )
  const deleteSession = database.prepare('DELETE FROM sessions WHERE token_hash = ?')
  const deleteSessions = database.prepare(
    'DELETE FROM sessions WHERE created_at < ? OR last_seen_at < ?',
  )

  function addAccount({ id, name, suspended, createdAt }: Account): void {
    insertAccount.run(id, name, Number(suspended), createdAt)
  }

  return {
    createFirstOperator: async ({ account: first, operator }) =>
      database.transaction(() => {
        if (anyOperator.get() !== undefined) return false
        addAccount(first)
        insertOperator.run(
          operator.id,
          operator.accountId,
          operator.email,
          caseIgnored(operator.email),
          operator.role,
          Number(operator.platform),
          operator.passwordHash,
          operator.createdAt,
        )
        return true
      }),

    async findOperatorByEmail(email) {
      const row = findByEmail.get(caseIgnored(email))
      return row && operator(row)
    },

    async createAccount(account) {
      addAccount(account)
    },

    async findAccount(accountId) {
      const row = findAccount.get(accountId)
      return row && account(row)
    },

    async suspendAccount({ accountId, suspended }) {
      suspend.run(Number(suspended), accountId)
      const row = findAccount.get(accountId)
      return row && account(row)
    },

    async createSession({ tokenHash, operatorId, createdAt, lastSeenAt }) {
      insertSession.run(tokenHash, operatorId, createdAt, lastSeenAt)
    },

    async findSession(tokenHash) {
      const row = findSession.get(tokenHash)
      if (row === undefined) return undefined
      const session = {
        tokenHash: row.token_hash,
        operatorId: row.operator_id,
        createdAt: row.session_created_at,
        lastSeenAt: row.last_seen_at,
      }
      return { session, operator: operator(row), account: account(row) }
    },

    async touchSession({ tokenHash, lastSeenAt }) {
      touchSession.run(lastSeenAt, tokenHash)
    },

    async deleteSession(tokenHash) {
      deleteSession.run(tokenHash)
    },

    async deleteSessions({ createdBefore, seenBefore }) {
      deleteSessions.run(createdBefore, seenBefore)
    },
  }
}

/** SQLite's own lower() knows ASCII only. */
function caseIgnored(email: string): string {
  return email.toLowerCase()
}

function account(row: AccountRow): Account {
  return {
    id: row.account_id,
    name: row.account_name,
    suspended: row.suspended === 1,
    createdAt: row.account_created_at,
  }
}

function operator(row: OperatorRow): Operator {
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
