import { readPages } from '../../runtime/read-pages.ts'
import type { Audit } from '../back-office.ts'
import type { Account, Operators } from '../operators.ts'
import type { DocumentStore } from '../documents.ts'
import { changed } from './changing.ts'
import { SERVICE_ID, type AnnouncedErasure, type ServiceDocument } from './kinds.ts'

const READ_AT_ONCE = 100

/**
 * Announces the erasures of earlier versions once: those versions left details of their devices in the audit, which
 * `finishErasures` then removes.
 */
export function earlierErasures({
  backOffice: { pageAccounts, pageAudit },
  service,
  announced,
}: {
  backOffice: Pick<Operators, 'pageAccounts'> & Pick<Audit, 'pageAudit'>
  service: DocumentStore<ServiceDocument>
  announced: Pick<DocumentStore<AnnouncedErasure>, 'insert'>
}): () => Promise<void> {
  let isDone = false

  async function announceIn(accountId: string): Promise<void> {
    const query = { accountId, action: 'device.erased', limit: READ_AT_ONCE }
    for (let after: string | undefined; ;) {
      const { entries, next } = await pageAudit({ ...query, after })
      await announced.insert(
        entries.map(({ id, at, subject }) => ({
          id,
          accountId,
          deviceId: subject.id,
          forgottenUpTo: at,
        })),
      )
      if (next === undefined) return
      after = next
    }
  }

  return async () => {
    if (isDone) return
    if ((await service.get(SERVICE_ID))?.announcedEarlier !== true) {
      for await (const page of readPages<Account>(READ_AT_ONCE, pageAccounts)) {
        for (const { id } of page) await announceIn(id)
      }
      await changed(service, SERVICE_ID, (before) => ({
        ...before,
        announcedEarlier: true as const,
      }))
    }
    isDone = true
  }
}
