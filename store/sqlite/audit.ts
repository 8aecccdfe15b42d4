import type { Audit, AuditEntry } from '../back-office.ts'
import type { Database } from '../../runtime/sqlite/database.ts'

type Row = { readonly entry: string }

// An id is a ULID of its moment, so the order of ids is that of time.
export const AUDIT_PAGE = {
  first: 'SELECT entry FROM audit WHERE account_id = ? ORDER BY id DESC LIMIT ?',
  next: 'SELECT entry FROM audit WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
}

/** Kept as JSON, which takes any text there is; triggers hold that no entry is changed or removed. */
export function sqliteAudit(accounts: Database): Audit {
  const insert = accounts.prepare('INSERT INTO audit VALUES (?, ?, ?)')
  const firstPage = accounts.prepare<Row>(AUDIT_PAGE.first)
  const nextPage = accounts.prepare<Row>(AUDIT_PAGE.next)

  return {
    async appendAudit(entry) {
      insert.run(entry.accountId, entry.id, JSON.stringify(entry))
    },

    async pageAudit({ accountId, limit, after }) {
      const rows =
        after === undefined
          ? firstPage.all(accountId, limit)
          : nextPage.all(accountId, after, limit)
      return rows.map(({ entry }) => JSON.parse(entry) as AuditEntry)
    },
  }
}
