/**
 * Small documents with a few look-ups: what the back office is written over, once for both
 * databases. Nothing but JSON values; texts are well-formed. A change happens to one document at a
 * time, so a rule that spans several is held by a unique index or by replacing what is unchanged.
 */
export type Document = { readonly id: string }

/** A document as it was read; every change of it gives it another revision. */
export type Found<D> = D & { readonly revision: number }

/** One sort of document: a table or a collection of its own. `D`: what it holds. */
export type Kind<D extends Document> = {
  readonly name: string
  /** A document without a field of a unique index is not in it. */
  readonly indexes: Readonly<Record<string, Index<D>>>
  /** Nothing in it is ever changed or removed. */
  readonly appendOnly?: true
}

export type Index<D> = {
  /** Texts or numbers. Documents stand in the order of these, then of their ids. */
  readonly fields: readonly (keyof D & string)[]
  readonly unique?: true
}

export type Query<D> = {
  /** By name. Its first fields have the values of `where`; the others and the id give the order. */
  readonly index: string
  readonly where?: Partial<D>
  /** The least value of the first field that gives the order. */
  readonly from?: string | number
  readonly order?: 'asc' | 'desc'
  /** Where the page before ended: the fields that give the order. It need not be there any more. */
  readonly after?: Partial<D> & Document
  readonly skip?: number
  readonly limit: number
}

/** Every method may throw a `DependencyError`: `retriable` when the database is away or busy. */
export interface Documents<D extends Document> {
  /** Gives those that were inserted: not the ones whose id or unique value is taken. */
  insert(documents: readonly D[]): Promise<D[]>
  get(id: string): Promise<Found<D> | undefined>
  find(query: Query<D>): Promise<Found<D>[]>
  /** False where it has been changed or removed since it was read, or a unique value is taken. */
  replace(document: Found<D>): Promise<boolean>
  /** Moves a number forward, never back, in those of the documents that are there. */
  raise(field: keyof D & string, values: ReadonlyMap<string, number>): Promise<void>
  /** With a revision, only if it is still the one. Gives whether it was removed. */
  remove(document: Document & { readonly revision?: number }): Promise<boolean>
  /** Removes those whose first ordering field (the id where there is none) is less than `than`. */
  removeOlder(query: Pick<Query<D>, 'index' | 'where'> & { than: string | number }): Promise<void>
}

/** Opens the documents of a kind. */
export type OpenDocuments = <D extends Document>(kind: Kind<D>) => Documents<D>

/** The index of a query, its fields with a fixed value, and those that give the order, id last. */
export function fieldsOf<D extends Document>(
  kind: Kind<D>,
  { index: name, where = {} }: Pick<Query<D>, 'index' | 'where'>,
): { readonly equal: [string, unknown][]; readonly ordering: string[] } {
  const index = kind.indexes[name]
  if (index === undefined) throw new Error(`${kind.name} has no index ${name}`)
  const equal = Object.entries(where)
  const fixed = index.fields.slice(0, equal.length)
  if (!equal.every(([field]) => fixed.includes(field as keyof D & string))) {
    throw new Error(`the index ${name} of ${kind.name} does not begin with these fields`)
  }
  return { equal, ordering: [...index.fields.slice(equal.length), 'id'] }
}
