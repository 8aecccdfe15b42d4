import type { Operator, OperatorKept, Operators } from '../back-office.ts'
import { sqliteAccounts } from './accounts.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { OPERATOR, operatorOf, type OperatorRow } from './operator-rows.ts'
import { sqliteSessions } from './sessions.ts'

export function sqliteOperators(database: Database): Operators {
  const { add: addAccount, ...accounts } = sqliteAccounts(database)
  const anyOperator = database.prepare<{ id: string }>('SELECT id FROM operators LIMIT 1')
  const insert = database.prepare('INSERT INTO operators VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const find = database.prepare<OperatorRow>(
    `SELECT ${OPERATOR} FROM operators WHERE account_id = ? AND id = ?`,
  )
  const findByEmail = database.prepare<OperatorRow>(
    `SELECT ${OPERATOR} FROM operators WHERE email_lower_case = ?`,
  )
  const firstPage = database.prepare<OperatorRow>(
    `SELECT ${OPERATOR} FROM operators WHERE account_id = ? ORDER BY created_at, id LIMIT ?`,
  )
  const nextPage = database.prepare<OperatorRow>(
    `SELECT ${OPERATOR} FROM operators WHERE account_id = ?1 AND (created_at, id) >
       (SELECT created_at, id FROM operators WHERE account_id = ?1 AND id = ?2)
     ORDER BY created_at, id LIMIT ?3`,
  )
  const otherAdmin = database.prepare<{ id: string }>(
    "SELECT id FROM operators WHERE account_id = ? AND role = 'admin' AND id <> ? LIMIT 1",
  )
  const otherPlatformOperator = database.prepare<{ id: string }>(
    'SELECT id FROM operators WHERE platform = 1 AND id <> ? LIMIT 1',
  )
  const update = database.prepare(
    'UPDATE operators SET role = ?, platform = ?, password_hash = ? WHERE id = ?',
  )
  const remove = database.prepare('DELETE FROM operators WHERE id = ?')

  function isTaken(email: string): boolean {
    return findByEmail.get(caseIgnored(email)) !== undefined
  }

  function addOperator(operator: Operator): void {
    insert.run(
      operator.id,
      operator.accountId,
      operator.email,
      caseIgnored(operator.email),
      operator.role,
      Number(operator.platform),
      operator.passwordHash,
      operator.createdAt,
    )
  }

  /** What keeps an operator as it is, if `next` (undefined: nobody) took its place. */
  function kept(
    operator: Operator,
    next: Pick<Operator, 'role' | 'platform'> | undefined,
  ): OperatorKept | undefined {
    const { id, accountId, role, platform } = operator
    if (role === 'admin' && next?.role !== 'admin' && !otherAdmin.get(accountId, id)) {
      return 'last admin'
    }
    if (platform && !next?.platform && !otherPlatformOperator.get(id)) {
      return 'last platform operator'
    }
    return undefined
  }

  return {
    ...accounts,
    ...sqliteSessions(database),

    createFirstOperator: async ({ account, operator }) =>
      database.transaction(() => {
        if (anyOperator.get() !== undefined) return false
        addAccount(account)
        addOperator(operator)
        return true
      }),

    createOperator: async (operator) =>
      database.transaction(() => {
        if (isTaken(operator.email)) return false
        addOperator(operator)
        return true
      }),

    async findOperator({ accountId, operatorId }) {
      const row = find.get(accountId, operatorId)
      return row && operatorOf(row)
    },

    async findOperatorByEmail(email) {
      const row = findByEmail.get(caseIgnored(email))
      return row && operatorOf(row)
    },

    async pageOperators({ accountId, limit, after }) {
      const rows =
        after === undefined
          ? firstPage.all(accountId, limit)
          : nextPage.all(accountId, after, limit)
      return rows.map(operatorOf)
    },

    changeOperator: async ({ accountId, operatorId, role, platform, passwordHash }) =>
      database.transaction(() => {
        const row = find.get(accountId, operatorId)
        if (row === undefined) return undefined
        const operator = operatorOf(row)
        const next = {
          ...operator,
          role: role ?? operator.role,
          platform: platform ?? operator.platform,
          passwordHash: passwordHash ?? operator.passwordHash,
        }
        const reason = kept(operator, next)
        if (reason !== undefined) return reason
        update.run(next.role, Number(next.platform), next.passwordHash, operatorId)
        return next
      }),

    deleteOperator: async ({ accountId, operatorId }) =>
      database.transaction(() => {
        const row = find.get(accountId, operatorId)
        if (row === undefined) return undefined
        const reason = kept(operatorOf(row), undefined)
        if (reason !== undefined) return reason
        remove.run(operatorId)
        return 'deleted'
      }),

    createAccount: async (account, admin) =>
      database.transaction(() => {
        if (admin !== undefined && isTaken(admin.email)) return false
        addAccount(account)
        if (admin !== undefined) addOperator(admin)
        return true
      }),
  }
}

/** SQLite's own lower() knows ASCII only. */
function caseIgnored(email: string): string {
  return email.toLowerCase()
}
