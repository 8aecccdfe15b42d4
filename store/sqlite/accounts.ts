import type { Account, Operators } from '../back-office.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { ACCOUNT, accountOf, type AccountRow } from './operator-rows.ts'

export type Accounts = Pick<Operators, 'findAccount' | 'pageAccounts' | 'suspendAccount'> & {
  add: (account: Account) => void
}

export function sqliteAccounts(database: Database): Accounts {
  const insert = database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)')
  const find = database.prepare<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = ?`)
  const firstPage = database.prepare<AccountRow>(
    `SELECT ${ACCOUNT} FROM accounts ORDER BY created_at, id LIMIT ?`,
  )
  const nextPage = database.prepare<AccountRow>(
    `SELECT ${ACCOUNT} FROM accounts
     WHERE (created_at, id) > (SELECT created_at, id FROM accounts WHERE id = ?)
     ORDER BY created_at, id LIMIT ?`,
  )
  const suspend = database.prepare('UPDATE accounts SET suspended = ? WHERE id = ?')

  function findAccount(accountId: string): Account | undefined {
    const row = find.get(accountId)
    return row && accountOf(row)
  }

  return {
    add({ id, name, suspended, createdAt }) {
      insert.run(id, name, Number(suspended), createdAt)
    },

    findAccount: async (accountId) => findAccount(accountId),

    async pageAccounts({ limit, after }) {
      const rows = after === undefined ? firstPage.all(limit) : nextPage.all(after, limit)
      return rows.map(accountOf)
    },

    async suspendAccount({ accountId, suspended }) {
      suspend.run(Number(suspended), accountId)
      return findAccount(accountId)
    },
  }
}
