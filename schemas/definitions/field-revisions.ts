/** Fields of a definition, each with the revision in which it last changed; absent: it has not changed since that is noted. */
export type FieldRevisions = Readonly<Record<string, number>>
