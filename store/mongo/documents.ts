import {
  BSON,
  MongoBulkWriteError,
  type Collection,
  type Db,
  type Filter,
  type Sort,
  type UpdateFilter,
} from 'mongodb'
import {
  fieldsOf,
  SIZED_AT_ONCE,
  type Document,
  type DocumentStore,
  type Revisioned,
  type Kind,
  type OpenDocuments,
  type Query,
} from '../documents.ts'
import { duplicatesOf, isDuplicateKey } from './driver-errors.ts'
import { runUnderVersions, versionsOf, type Versions } from './versions.ts'

/** `_id` is the document's id. */
type Stored = { readonly _id: string; readonly revision: number } & Readonly<
  Record<string, unknown>
>

/** Callers time out sooner; the server should not keep working for them. */
const READ_WITHIN_MS = 5_000

/** Opens documents with one collection per kind. */
export function mongoDocuments(db: Db): OpenDocuments {
  return (kind) => documentsOf(collectionOf(db, kind), kind, versionsOf(db, kind.name))
}

function collectionOf(db: Db, { name }: Pick<Kind<never>, 'name'>): Collection<Stored> {
  return db.collection<Stored>(`back_office.${name}`)
}

/** The unique indexes, which must exist before the first write. */
export async function makeUniqueIndexes(db: Db, kinds: readonly Kind<never>[]): Promise<void> {
  await makeIndexes(db, kinds, true)
}

/** Indexes for look-ups only; building them on a large collection takes long. */
export async function makeSearchIndexes(db: Db, kinds: readonly Kind<never>[]): Promise<void> {
  await makeIndexes(db, kinds, false)
}

async function makeIndexes(db: Db, kinds: readonly Kind<never>[], made: boolean): Promise<void> {
  for (const kind of kinds) {
    const indexes = Object.entries(kind.indexes).filter(([, { unique = false }]) => unique === made)
    if (indexes.length === 0) continue
    await collectionOf(db, kind).createIndexes(
      indexes.map(([name, { fields, unique = false }]) => ({
        name,
        key: Object.fromEntries([...fields, ...(unique ? [] : ['_id'])].map((field) => [field, 1])),
        ...(unique && { unique, sparse: true }),
      })),
    )
  }
}

function documentsOf<D extends Document>(
  collection: Collection<Stored>,
  kind: Kind<D>,
  versions: Versions,
): DocumentStore<D> {
  /** Writes documents, with versions if the kind has them. */
  function tryWrite<T>(
    documents: readonly Revisioned<Document>[],
    write: (documents: Stored[]) => Promise<T>,
  ): Promise<T> {
    if (kind.isCounted !== true) return write(documents.map(toStored))
    const ids = documents.map(({ id }) => id)
    return runUnderVersions(versions, { collection, ids }, (of) =>
      write(documents.map((document, n) => ({ ...toStored(document), version: of[n] }))),
    )
  }

  async function replaceAll(documents: readonly Revisioned<D>[]): Promise<number> {
    if (documents.length === 0) return 0
    const next = documents.map((document) => ({ ...document, revision: document.revision + 1 }))
    try {
      const { matchedCount } = await tryWrite(next, (all) =>
        collection.bulkWrite(
          all.map((replacement) => {
            const { _id, revision } = replacement
            return { replaceOne: { filter: { _id, revision: revision - 1 }, replacement } }
          }),
          { ordered: false },
        ),
      )
      return matchedCount
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) throw error
      return error.matchedCount
    }
  }

  return {
    async insert(documents) {
      if (documents.length === 0) return []
      const made = documents.map((document) => ({ ...document, revision: 1 }))
      try {
        await tryWrite(made, (all) => collection.insertMany(all, { ordered: false }))
        return [...documents]
      } catch (error) {
        const taken = duplicatesOf(error)
        if (taken === undefined) throw error
        return documents.filter((_, n) => !taken.includes(n))
      }
    },

    async get(id) {
      const document = await collection.findOne({ _id: id }, { maxTimeMS: READ_WITHIN_MS })
      return document === null ? undefined : splitRevision<D>(document)
    },

    async find(query) {
      const { filter, sort } = search(kind, query)
      const { skip = 0, limit, mostBytes } = query
      const cursor = collection.find(filter).sort(sort).skip(skip).limit(limit)
      cursor.maxTimeMS(READ_WITHIN_MS)
      if (query.isBrief === true) cursor.project(projectionOf(kind))
      if (mostBytes === undefined) return (await cursor.toArray()).map(splitRevision<D>)
      const page: Revisioned<D>[] = []
      let bytes = 0
      for await (const document of cursor.batchSize(SIZED_AT_ONCE)) {
        page.push(splitRevision<D>(document))
        bytes += BSON.calculateObjectSize(document)
        if (bytes >= mostBytes) break
      }
      return page
    },

    replace: async (document) => (await replaceAll([document])) === 1,
    replaceAll,

    async raise(field, values) {
      if (values.size === 0) return
      await collection.bulkWrite(
        Array.from(values, ([id, value]) => ({
          updateOne: {
            filter: {
              _id: id,
              $or: [{ [field]: { $exists: false } }, { [field]: { $lt: value } }],
            },
            update: raiseField(field, value),
          },
        })),
        { ordered: false },
      )
    },

    async remove({ id, revision }) {
      const filter = { _id: id, ...(revision !== undefined && { revision }) }
      return (await collection.deleteOne(filter)).deletedCount === 1
    },

    async removeOlder({ than, ...query }) {
      const { equal, ordering } = fieldsOf(kind, query)
      const field = storedName(ordering[0] ?? 'id')
      await collection.deleteMany({ ...Object.fromEntries(equal), [field]: { $lt: than } })
    },
  }
}

function search<D extends Document>(
  kind: Kind<D>,
  query: Query<D>,
): { readonly filter: Filter<Stored>; readonly sort: Sort } {
  const { from, order = 'asc', after } = query
  const { equal, ordering } = fieldsOf(kind, query)
  const bounds: object[] = [Object.fromEntries(equal)]
  if (from !== undefined) bounds.push({ [storedName(ordering[0] ?? 'id')]: { $gte: from } })
  if (after !== undefined)
    bounds.push(...filterAfter(after, ordering, order === 'asc' ? '$gt' : '$lt'))
  return {
    filter: { $and: bounds },
    sort: Object.fromEntries(
      ordering.map((field) => [storedName(field), order === 'asc' ? 1 : -1]),
    ),
  }
}

/**
 * Matches documents after a position: greater in the first field, or equal and then in the rest.
 */
function filterAfter(after: Document, ordering: readonly string[], ahead: '$gt' | '$lt'): object[] {
  const place: Readonly<Record<string, unknown>> = after
  const ways = ordering.map((field, n) => ({
    ...Object.fromEntries(ordering.slice(0, n).map((equal) => [storedName(equal), place[equal]])),
    [storedName(field)]: { [ahead]: place[field] },
  }))
  const [first = 'id'] = ordering
  // The second bound implies the first, which lets the index scan start at this position.
  return [{ [storedName(first)]: { [`${ahead}e`]: place[first] } }, { $or: ways }]
}

function projectionOf({ brief = [] }: Kind<never>): Readonly<Record<string, 1>> {
  return Object.fromEntries(['revision', ...brief].map((field) => [field, 1]))
}

function raiseField(field: string, value: number): UpdateFilter<Stored> {
  return { $set: { [field]: value }, $inc: { revision: 1 } } as object
}

function toStored({ id, ...fields }: Revisioned<Document>): Stored {
  return { _id: id, ...fields }
}

function splitRevision<D>({ _id, ...fields }: Stored): Revisioned<D> {
  return { id: _id, ...fields } as unknown as Revisioned<D>
}

function storedName(field: string): string {
  return field === 'id' ? '_id' : field
}
