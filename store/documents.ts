/**
 * Small documents with a few look-ups: the back office is implemented once on top of them, for both
 * databases. Only JSON values; texts are well-formed. A change affects one document, so a
 * constraint across several needs a unique index, or a replacement of an unchanged document.
 */
export type Document = { readonly id: string }

/** A document as it was read; every change gives it a new revision. */
export type Revisioned<D> = D & { readonly revision: number }

/** A kind of document, with its own table or collection. `D`: its content. */
export type Kind<D extends Document> = {
  readonly name: string
  /** A unique index does not contain documents without its field. */
  readonly indexes: Readonly<Record<string, Index<D>>>
  /** Documents are never removed, and only this field changes. */
  readonly appendOnlyBut?: keyof D & string
  /**
   * Inserting or replacing a document gives it the next number of its kind as its `version`, so
   * that processes can follow the changes without comparing clocks. Documents written by earlier
   * versions have none.
   */
  readonly isCounted?: true
  /** The fields of a brief read: texts or numbers. */
  readonly brief?: readonly (keyof D & string)[]
}

/** A field, or a field of a nested object: `subject.id`. */
export type FieldOf<D> = (keyof D & string) | `${keyof D & string}.${string}`

export type Index<D> = {
  /** Texts or numbers. Documents are sorted by these, then by id. */
  readonly fields: readonly FieldOf<D>[]
  readonly unique?: true
}

export type Query<D> = {
  /**
   * The index's name. Its first fields equal `where` (null: they are absent); the others and the id
   * determine the order.
   */
  readonly index: string
  readonly where?: Partial<D> | Partial<Record<FieldOf<D>, unknown>>
  /** The lowest value of the first ordering field. */
  readonly from?: string | number
  readonly order?: 'asc' | 'desc'
  /**
   * The ordering fields of the previous page's last document, which may have been deleted since.
   */
  readonly after?: Partial<D> & Document
  readonly skip?: number
  readonly limit: number
  /** Ends the page early, after the document that brings it to this size. */
  readonly mostBytes?: number
  /** Returns only the fields of a brief read. */
  readonly isBrief?: true
}

/**
 * Documents read from the database together; the database counts their sizes, because each may be
 * large.
 */
export const SIZED_AT_ONCE = 32

/** Every method may throw a `DependencyError`: `retriable` when the database is down or busy. */
export interface DocumentStore<D extends Document> {
  /** Returns the inserted documents, without those whose id or unique value is taken. */
  insert(documents: readonly D[]): Promise<D[]>
  get(id: string): Promise<Revisioned<D> | undefined>
  /** Without `mostBytes`, a page that is not full is the last one. */
  find(query: Query<D>): Promise<Revisioned<D>[]>
  /**
   * Replaces a document. False if it has been changed or removed since it was read, or a unique
   * value is taken.
   */
  replace(document: Revisioned<D>): Promise<boolean>
  /** Replaces several documents together. Returns the number replaced; the rest are unchanged. */
  replaceAll(documents: readonly Revisioned<D>[]): Promise<number>
  /** Increases a number, never decreases it, in documents that exist. */
  raise(field: keyof D & string, values: ReadonlyMap<string, number>): Promise<void>
  /**
   * Removes a document, with a revision only if that is still current. Returns whether it was
   * removed.
   */
  remove(document: Document & { readonly revision?: number }): Promise<boolean>
  /** Removes documents whose first ordering field (or id, if none) is less than `than`. */
  removeOlder(query: Pick<Query<D>, 'index' | 'where'> & { than: string | number }): Promise<void>
}

/** Opens the documents of a kind. */
export type OpenDocuments = <D extends Document>(kind: Kind<D>) => DocumentStore<D>

/** The fields of a query's index: those with a fixed value, then the ordering ones, id last. */
export function fieldsOf<D extends Document>(
  kind: Kind<D>,
  { index: name, where = {} }: Pick<Query<D>, 'index' | 'where'>,
): { readonly equal: [string, unknown][]; readonly ordering: string[] } {
  const index = kind.indexes[name]
  if (index === undefined) throw new Error(`${kind.name} has no index ${name}`)
  const equal = Object.entries(where)
  const fixed = index.fields.slice(0, equal.length)
  if (!equal.every(([field]) => fixed.includes(field as FieldOf<D>))) {
    throw new Error(`the index ${name} of ${kind.name} does not start with these fields`)
  }
  return { equal, ordering: [...index.fields.slice(equal.length), 'id'] }
}
