import type { AuditEntry } from '../back-office.ts'
import type { Documents } from '../documents.ts'
import type { AuditDetailsDocument } from './kinds.ts'

const AT_ONCE = 100

type Device = { readonly accountId: string; readonly deviceId: string }

/**
 * The details of audit entries on one device, such as its name and labels. They are documents of their
 * own, because the audit is append-only and they go with the device.
 */
export function auditDetailsOf(details: Documents<AuditDetailsDocument>) {
  return {
    /** Stores the details of an entry on a device; returns the entry without them. */
    async split({ details: given, ...entry }: AuditEntry): Promise<AuditEntry> {
      const { id, accountId, subject } = entry
      if (given === undefined) return entry
      if (subject.kind !== 'device') return { ...entry, details: given }
      await details.insert([{ id, accountId, deviceId: subject.id, details: given }])
      return entry
    },

    /** The entry with its details, unless its device was erased. */
    async join(entry: AuditEntry): Promise<AuditEntry> {
      if (entry.subject.kind !== 'device' || entry.details !== undefined) return entry
      const found = await details.get(entry.id)
      return found === undefined ? entry : { ...entry, details: found.details }
    },

    async forget({ accountId, deviceId }: Device): Promise<void> {
      const query = { index: 'device', where: { accountId, deviceId }, limit: AT_ONCE } as const
      for (;;) {
        const page = await details.find(query)
        for (const { id } of page) await details.remove({ id })
        if (page.length < AT_ONCE) return
      }
    },
  }
}
