import type { Audit, AuditEntry } from '../back-office.ts'
import type { Documents } from '../documents.ts'

/** An id is a ULID, so ordering by id is ordering by time. */
export function auditOf(audit: Documents<AuditEntry>): Audit {
  return {
    async appendAudit(entry) {
      await audit.insert([entry])
    },

    async pageAudit({ accountId, limit, after }) {
      const page = await audit.find({
        index: 'account',
        where: { accountId },
        order: 'desc',
        ...(after !== undefined && { after: { id: after } }),
        limit,
      })
      return page.map(({ revision: _revision, ...entry }) => entry)
    },
  }
}
