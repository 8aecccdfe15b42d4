import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { ulid } from '../../schemas/events/record-id.ts'
import type { AuditEntry, AuditQuery } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'

export function labelled({
  deviceIds,
  ...fields
}: {
  accountId: string
  at: number
  deviceIds: readonly string[]
}): AuditEntry {
  const subject = { kind: 'devices', id: fields.accountId } as const
  return entry({
    ...fields,
    action: 'devices.labelled',
    subject,
    details: { deviceIds, add: ['x'] },
  })
}

export function withoutDetails(entry: AuditEntry): AuditEntry {
  const { details, ...bare } = entry
  expect(details).toBeDefined()
  return bare
}

export function devicesOf({ details }: AuditEntry): readonly string[] {
  return (details?.['deviceIds'] ?? []) as readonly string[]
}

export function entry(fields: Partial<AuditEntry> & { accountId: string; at: number }): AuditEntry {
  return {
    id: ulid(fields.at, randomBytes(10)),
    actor: { kind: 'operator', id: 'operator-1', name: 'ana@example.org' },
    action: 'key.created',
    subject: { kind: 'key', id: 'key-1' },
    address: '192.0.2.7',
    requestId: 'request-1',
    ...fields,
  }
}

/** The newest entries of an account. */
export async function newestEntries(
  store: Pick<Store, 'pageAudit'>,
  accountId: string,
): Promise<readonly AuditEntry[]> {
  return (await store.pageAudit({ accountId, limit: 99 })).entries
}

export async function auditPages(
  store: Pick<Store, 'pageAudit'>,
  query: AuditQuery,
): Promise<(readonly AuditEntry[])[]> {
  const pages: (readonly AuditEntry[])[] = []
  for (let after: string | undefined; ;) {
    const { entries, next } = await store.pageAudit({ ...query, after })
    pages.push(entries)
    if (next === undefined) return pages
    after = next
  }
}
