import type { Document, Documents, Found, Query } from '../documents.ts'

/** The page behind the document of this id; none where there is no such one among those asked for. */
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
