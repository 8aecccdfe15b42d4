import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Audit, AuditEntry, AuditQuery } from '../back-office.ts'
import type { Documents, Query } from '../documents.ts'

/** The number of entries read at a time when a filter skips some of them. */
const LOOKED_AT_ONCE = 500

export function auditOf(audit: Documents<AuditEntry>): Audit {
  /** The place before which a page begins: after the last entry seen, or at the end of the range. */
  async function placeOf({ after, to }: AuditQuery) {
    if (after === undefined) return to === undefined ? undefined : { at: to, id: '' }
    const last = await audit.get(after)
    return last === undefined ? undefined : { at: last.at, id: last.id }
  }

  return {
    async appendAudit(...entries) {
      await audit.insert(entries)
    },

    async pageAudit(query) {
      const { action, operatorId, subjectId, limit } = query
      const isPicked = operatorId !== undefined || (action !== undefined && subjectId !== undefined)
      const size = isPicked ? Math.max(limit, LOOKED_AT_ONCE) : limit
      const entries: AuditEntry[] = []
      let place = await placeOf(query)
      if (place === undefined && query.after !== undefined) return []
      while (entries.length < limit) {
        const page = await audit.find({
          ...indexFor(query),
          order: 'desc',
          ...(query.from !== undefined && { from: query.from }),
          ...(place !== undefined && { after: place }),
          limit: size,
        })
        entries.push(
          ...page
            .map(({ revision: _revision, ...entry }) => entry)
            .filter((entry) => isWanted(entry, { action, operatorId, subjectId })),
        )
        const last = page.at(-1)
        if (last === undefined || page.length < size) break
        place = { at: last.at, id: last.id }
        await endOfTurn()
      }
      return entries.slice(0, limit)
    },
  }
}

function indexFor({
  accountId,
  subjectId,
  operatorId,
  action,
}: AuditQuery): Pick<Query<AuditEntry>, 'index' | 'where'> {
  if (subjectId !== undefined) {
    return { index: 'subject', where: { accountId, 'subject.id': subjectId } }
  }
  if (operatorId !== undefined) {
    return { index: 'actor', where: { accountId, 'actor.id': operatorId } }
  }
  if (action !== undefined) return { index: 'action', where: { accountId, action } }
  return { index: 'time', where: { accountId } }
}

function isWanted(
  entry: AuditEntry,
  { action, operatorId, subjectId }: Pick<AuditQuery, 'action' | 'operatorId' | 'subjectId'>,
): boolean {
  const { actor, subject } = entry
  return (
    (action === undefined || entry.action === action) &&
    (operatorId === undefined || (actor.kind === 'operator' && actor.id === operatorId)) &&
    (subjectId === undefined || subject.id === subjectId)
  )
}
