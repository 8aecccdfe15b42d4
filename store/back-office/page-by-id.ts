import type { Document, Documents, Found, Query } from '../documents.ts'

/** The page after the document with this id; empty if the query does not include that document. */
export async function pageById<D extends Document>(
  documents: Documents<D>,
  query: Query<D>,
  after: string | undefined,
): Promise<Found<D>[]> {
  if (after === undefined) return documents.find(query)
  const last = await documents.get(after)
  if (last === undefined) return []
  const isAmong = Object.entries(query.where ?? {}).every(
    ([field, value]) => last[field as keyof D] === value,
  )
  return isAmong ? documents.find({ ...query, after: last }) : []
}
