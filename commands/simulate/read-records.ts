import { readAnswer, type ServiceAnswer } from '../../client/answer.ts'
import type { KeptConnections } from './kept-connections.ts'

/** Rejects if there is no answer. */
export type ReadRecord = (recordId: string) => Promise<ServiceAnswer>

/** Reads records from the admin API. */
export function readRecords({
  adminUrl,
  readKey,
  fetch,
}: { adminUrl: URL; readKey: string } & Pick<KeptConnections, 'fetch'>): ReadRecord {
  const base = `${adminUrl.origin}${adminUrl.pathname.replace(/\/+$/, '')}/api/v1/positions`
  return async (recordId) =>
    readAnswer(
      await fetch(`${base}/${encodeURIComponent(recordId)}`, {
        headers: { authorization: `Bearer ${readKey}` },
      }),
    )
}
