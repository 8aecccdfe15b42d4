/**
 * Fields of a definition, each with the revision in which it last changed; absent: not changed
 * since revisions are recorded.
 */
export type FieldRevisions = Readonly<Record<string, number>>
