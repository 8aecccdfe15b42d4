import type { Audit, AuditEntry } from '../back-office.ts'
import type { AuditDocument, Collections } from './collections.ts'

/** Nothing here changes or removes an entry. */
export function mongoAudit({
  collections: { audit },
}: {
  collections: Pick<Collections, 'audit'>
}): Audit {
  return {
    async appendAudit({ id, at, ...fields }) {
      await audit.insertOne({ ...fields, _id: id, at: new Date(at) })
    },

    async pageAudit({ accountId, limit, after }) {
      const page = await audit
        .find({ accountId, ...(after !== undefined && { _id: { $lt: after } }) })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray()
      return page.map(auditEntry)
    },
  }
}

function auditEntry({ _id, at, ...fields }: AuditDocument): AuditEntry {
  return { ...fields, id: _id, at: at.getTime() }
}
